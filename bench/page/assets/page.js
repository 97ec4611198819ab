"use strict";
// Draws the charts of a report. Their data is in the page; without this script the tables say the same.
(() => {
  const root = document.documentElement;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const boxes = [...document.querySelectorAll("figure.chart")];

  // Styles say what a colour is in light and in dark; a probe says which it is now.
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const color = (role) => {
    probe.style.color = `var(--${role})`;
    return getComputedStyle(probe).color;
  };
  const faint = (role, share) => color(role).replace(/^rgb\(([^)]*)\)$/, `rgba($1, ${share})`);

  // Numbers are written as in the tables.
  const digits = (x) => {
    const size = Math.abs(x);
    if (x === 0) return "0";
    if (size >= 99.95) return Math.round(x).toLocaleString("en-US");
    return size >= 9.995 ? x.toFixed(1) : x.toFixed(2);
  };
  const scaled = (x, units) => {
    let i = 0;
    while (Math.abs(x) >= 999.5 && i < units.length - 1) {
      x /= 1e3;
      i++;
    }
    return `${digits(x)} ${units[i]}`;
  };
  const written = {
    s: (x) => (x !== 0 && Math.abs(x) < 0.1 ? `${digits(1e3 * x)} ms` : `${digits(x)} s`),
    B: (x) => scaled(x, ["B", "kB", "MB", "GB", "TB"]),
    "B/s": (x) => scaled(x, ["B/s", "kB/s", "MB/s", "GB/s"]),
    "%": (x) => `${Math.round(100 * x)} %`,
  };
  const write = (x, unit) => (written[unit] || ((v) => `${digits(v)} ${unit}`))(x).replace(/^-/, "−");
  // The marks of an axis are round numbers, which need no more digits than they have.
  const mark = (unit) => (x) => write(x, unit).replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, "");

  const element = (name, text) => {
    const e = document.createElement(name);
    e.textContent = text;
    return e;
  };
  // tip is the box at the pointer: a head and lines of colour, name and value. Names are text, never markup.
  const tip = (head, lines) => {
    const box = document.createElement("div");
    box.className = "tip";
    box.append(element("strong", head));
    for (const [role, name, value] of lines) {
      const line = document.createElement("div");
      const patch = document.createElement("i");
      patch.style.background = color(role);
      line.append(patch, element("span", name), element("span", value));
      box.append(line);
    }
    return box;
  };

  const base = (tooltip) => ({
    animation: false,
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: color("ink") },
    tooltip: {
      confine: true, backgroundColor: color("card"), borderColor: color("line"), textStyle: { color: color("ink") },
      extraCssText: "box-shadow: 0 4px 16px rgba(0, 0, 0, 0.18);", transitionDuration: 0, ...tooltip,
    },
  });
  const legend = (names) => ({
    show: names.length > 1, type: "scroll", top: 0, left: 0, right: 0, pageTextStyle: { color: color("muted") },
    itemWidth: 12, itemHeight: 12, itemGap: 16, data: names, textStyle: { color: color("muted") },
  });
  const axisLook = () => ({
    axisLine: { lineStyle: { color: color("line") } }, axisTick: { show: false }, axisLabel: { color: color("muted") },
    splitLine: { lineStyle: { color: color("line") } }, nameTextStyle: { color: color("muted") },
  });

  // bars: horizontal bars, one or several for each label.
  const bars = (d, width) => {
    const rows = d.labels.length;
    const thick = d.stacked || d.series.length === 1 ? 1 : d.series.length;
    const named = d.series.map((s) => s.name);
    const total = (i) => d.series.reduce((sum, s) => sum + (s.values[i] || 0), 0);
    const last = d.series.length - 1;
    const row = thick === 1 ? (d.wide ? 40 : 34) : 12 + 17 * thick;
    const labelled = d.wide && width > 600 ? { width: Math.min(340, 0.4 * width), overflow: "break", lineHeight: 15 } : { width: Math.min(290, 0.36 * width), overflow: "truncate" };
    const bar = (v, i) => (d.roles ? { value: v, itemStyle: { color: color(d.roles[i]) } } : v);
    const top = named.length > 1 ? 34 : 6;
    return {
      height: top + rows * row + 30,
      option: {
        ...base({
          trigger: "axis", axisPointer: { type: "shadow" },
          formatter: (hits) => {
            const i = hits[0].dataIndex;
            const lines = d.series.filter((s) => s.values[i]).map((s) => [d.roles ? d.roles[i] : s.role, s.name, write(s.values[i], d.unit)]);
            return tip(d.labels[i], lines);
          },
        }),
        legend: legend(named),
        grid: { left: 8, right: 76, top, bottom: 4, containLabel: true },
        xAxis: { type: "value", ...axisLook(), axisLabel: { color: color("muted"), formatter: mark(d.unit), hideOverlap: true } },
        yAxis: {
          type: "category", inverse: true, data: d.labels, ...axisLook(), splitLine: { show: false },
          axisLabel: { color: color("ink"), interval: 0, ...labelled },
        },
        series: d.series.map((s, k) => ({
          type: "bar", name: s.name, stack: d.stacked ? "all" : undefined, itemStyle: { color: color(s.role), borderRadius: d.stacked ? 0 : 3 },
          barMaxWidth: 22, barCategoryGap: "32%", data: s.values.map(bar),
          label: {
            show: !d.stacked || k === last, position: "right", color: color("ink"),
            formatter: (p) => (d.stacked ? write(d.first ? d.series[0].values[p.dataIndex] : total(p.dataIndex), d.unit) : s.values[p.dataIndex] ? write(s.values[p.dataIndex], d.unit) : ""),
          },
        })),
      },
    };
  };

  // place puts panels below each other, from top, over one horizontal axis.
  const place = (panels, top, height, gap) => panels.map((_, i) => ({ left: 92, right: 24, top: top + i * (height + gap), height }));
  const panelAxis = (p, i) => ({
    type: "value", gridIndex: i, ...axisLook(), min: 0, splitNumber: 3, ...(p.unit === "%" ? { max: 1, interval: 0.5 } : {}),
    name: `{head|${p.title}}` + p.lines.map((l, k) => l.name === p.title ? "" : `{dot${k}|■} ${l.name.replace(/[{}|]/g, " ")}   `).join(""), nameLocation: "end", nameGap: 12,
    nameTextStyle: {
      color: color("muted"), align: "left", padding: [0, 0, 0, -84],
      rich: Object.fromEntries([
        ["head", { color: color("ink"), fontWeight: "bold", padding: [0, 14, 0, 0] }], ...p.lines.map((l, k) => [`dot${k}`, { color: color(l.role) }]),
      ]),
    },
    axisLabel: { color: color("muted"), formatter: mark(p.unit) },
  });
  const lineOf = (l, i, more) => ({
    type: "line", name: l.name, xAxisIndex: i, yAxisIndex: i, data: l.points, showSymbol: l.points.length < 40, symbolSize: 7, symbol: "circle",
    lineStyle: { width: 2, color: color(l.role), type: l.dashed ? "dashed" : "solid" }, itemStyle: { color: color(l.role) }, ...more,
  });
  const zoom = (axes, at, end) => [
    { type: "slider", xAxisIndex: axes, bottom: 6, height: 22, filterMode: "none", startValue: 0, endValue: end, labelFormatter: (x) => write(x, "s"),
      borderColor: color("line"), textStyle: { color: color("muted") }, dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } },
      selectedDataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } }, fillerColor: faint("step", 0.15), brushSelect: false },
    { type: "inside", xAxisIndex: axes, filterMode: "none", startValue: 0, endValue: end, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false },
  ];

  // lines: panels of lines over a common axis.
  const lines = (d) => {
    const all = d.panels.flatMap((p) => p.lines);
    const category = Boolean(d.labels);
    const height = category ? 150 : 92;
    const gap = 46;
    const grids = place(d.panels, 32, height, gap);
    const head = (x) => (category ? `${d.axis} ${d.labels[x]}` : write(x, d.unit));
    const marks = category
      ? { markLine: { silent: true, symbol: "none", lineStyle: { color: color("good"), type: "dashed" }, label: { formatter: d.text, color: color("good") }, data: [{ xAxis: d.mark }] } }
      : {};
    const tones = ["step", "other"];
    const names = [...new Set((d.bands || []).map((b) => b.name))];
    const bands = {
      markArea: {
        silent: true, label: { show: false },
        data: (d.bands || []).map((b) => [{ xAxis: b.begin, itemStyle: { color: faint(tones[names.indexOf(b.name) % 2], 0.12) } }, { xAxis: b.end }]),
      },
    };
    return {
      height: 32 + d.panels.length * (height + gap) + (category ? 6 : 30),
      option: {
        ...base({
          trigger: "axis",
          formatter: (hits) => {
            const x = hits[0].axisValue;
            const at = category ? d.labels.indexOf(x) : Number(x);
            const seen = hits.map((h) => {
              const panel = d.panels.find((p) => p.lines.includes(all[h.seriesIndex]));
              return [all[h.seriesIndex].role, h.seriesName, write(h.value[1], panel.unit)];
            });
            const band = (d.bands || []).find((b) => b.begin <= at && at <= b.end);
            return tip(head(at) + (band ? ` · ${band.name}` : ""), seen);
          },
        }),
        axisPointer: { link: [{ xAxisIndex: "all" }], lineStyle: { color: color("muted") } },
        grid: grids,
        xAxis: d.panels.map((_, i) => ({
          type: category ? "category" : "value", gridIndex: i, data: d.labels, boundaryGap: category, ...axisLook(), splitLine: { show: false },
          axisLabel: { color: color("muted"), show: i === d.panels.length - 1, formatter: category ? undefined : mark(d.unit), showMaxLabel: category },
          name: i === d.panels.length - 1 && category ? d.axis : "", nameLocation: "middle", nameGap: 26, max: category ? undefined : "dataMax",
        })),
        yAxis: d.panels.map(panelAxis),
        dataZoom: category ? [] : zoom(d.panels.map((_, i) => i), 0),
        series: d.panels.flatMap((p, i) => p.lines.map((l, k) => lineOf(l, i, k > 0 ? {} : { ...marks, ...bands }))),
      },
    };
  };

  // lanes: what several workers did over time, and the machine below.
  const lanes = (d) => {
    const panels = d.panels || [];
    const row = d.lanes.length > 12 ? 18 : 26;
    const tall = d.lanes.length * row;
    const end = d.spans.reduce((most, s) => Math.max(most, s[4]), 0);
    const axes = [0, ...panels.map((_, i) => i + 1)];
    const below = place(panels, 40 + tall + 66, 64, 40);
    const all = panels.flatMap((p) => p.lines);
    const rect = (params, api) => {
      const [x, y] = api.coord([api.value(3), api.value(0)]);
      const right = api.coord([api.value(4), 0])[0];
      const high = api.size([0, 1])[1] * 0.68;
      const area = params.coordSys;
      const shape = echarts.graphic.clipRectByRect(
        { x, y: y - high / 2, width: Math.max(right - x, 0.5), height: high },
        { x: area.x, y: area.y, width: area.width, height: area.height },
      );
      return shape && { type: "rect", shape, style: { fill: params.color || api.visual("color"), stroke: color("card"), lineWidth: right - x > 6 ? 1 : 0 } };
    };
    return {
      height: 40 + tall + 34 + panels.length * 104 + (panels.length ? 30 : 0) + 40,
      option: {
        ...base({
          trigger: "item",
          formatter: (hit) => {
            if (hit.seriesType !== "custom") return tip(write(hit.value[0], "s"), [[all[hit.seriesIndex - d.roles.length].role, hit.seriesName, digits(hit.value[1])]]);
            const [lane, role, batch, begin, until] = hit.value;
            return tip(d.lanes[lane] + (batch ? `, batch ${batch}` : ""), [
              [d.roles[role].role, d.roles[role].name, write(until - begin, "s")], ["card", "from", write(begin, "s")], ["card", "to", write(until, "s")],
            ]);
          },
        }),
        legend: legend(d.roles.map((r) => r.name)),
        grid: [{ left: 92, right: 24, top: 40, height: tall }, ...below],
        xAxis: axes.map((i) => ({
          type: "value", gridIndex: i, min: 0, max: end, ...axisLook(), splitLine: { show: i === 0, lineStyle: { color: color("line") } },
          axisLabel: { color: color("muted"), formatter: mark("s"), hideOverlap: true, showMaxLabel: false, show: i === 0 || i === panels.length },
        })),
        yAxis: [
          { type: "category", inverse: true, data: d.lanes, ...axisLook(), splitLine: { show: false }, axisLabel: { color: color("ink"), interval: 0 } },
          ...panels.map((p, i) => panelAxis(p, i + 1)),
        ],
        dataZoom: zoom(axes, 0, d.shown < end ? d.shown : undefined),
        series: [
          ...d.roles.map((r, k) => ({
            type: "custom", name: r.name, renderItem: rect, itemStyle: { color: color(r.role) }, encode: { x: [3, 4], y: 0 },
            data: d.spans.filter((s) => s[1] === k),
          })),
          ...panels.flatMap((p, i) => p.lines.map((l) => lineOf(l, i + 1, { showSymbol: true, symbolSize: 5 }))),
        ],
      },
    };
  };

  const kinds = { bars, lanes, lines };
  const drawn = boxes.map((figure, i) => {
    figure.hidden = false;
    const box = figure.querySelector(".canvas");
    const { kind, data } = charts[i];
    box.style.height = `${kinds[kind](data, box.clientWidth).height}px`;
    const chart = echarts.init(box, null, { renderer: "svg" });
    const drawIt = () => chart.setOption(kinds[kind](data, box.clientWidth).option, { notMerge: true });
    new ResizeObserver(() => {
      chart.resize();
      drawIt(); // names have a share of the width
    }).observe(box);
    return drawIt;
  });
  const draw = () => drawn.forEach((f) => f());

  // The choice of colours is kept where the browser lets a page keep something.
  const store = {
    get: () => { try { return localStorage.getItem("dsconv-theme") || ""; } catch { return ""; } },
    set: (v) => { try { localStorage.setItem("dsconv-theme", v); } catch { /* a page from a file may not */ } },
  };
  const choices = [...document.querySelectorAll("[data-choice]")];
  const choose = (theme) => {
    root.dataset.theme = theme;
    for (const b of choices) b.setAttribute("aria-pressed", String(b.dataset.choice === theme));
    draw();
  };
  for (const b of choices) b.addEventListener("click", () => { store.set(b.dataset.choice); choose(b.dataset.choice); });
  document.querySelector(".theme").hidden = false;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const kept = store.get();
  choose(["light", "dark"].includes(kept) ? kept : "");

  // Paper is light.
  let before;
  addEventListener("beforeprint", () => { before = root.dataset.theme; choose("light"); });
  addEventListener("afterprint", () => choose(before));

  for (const b of document.querySelectorAll(".copy")) {
    b.hidden = false;
    b.addEventListener("click", async () => {
      const command = b.previousElementSibling;
      try {
        await navigator.clipboard.writeText(command.textContent);
        b.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(command); // to copy it by hand
      }
    });
  }
})();
