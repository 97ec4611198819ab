"use strict";
// Shows the report that is in the page. Texts of the report become text nodes, never markup.
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);

  // Texts: hidden characters, which could reverse a line, are written out; a text is one line.
  const plain = (text) =>
    String(text ?? "").replace(/\s+/g, " ").trim().replace(/[\p{C}\p{Zl}\p{Zp}\ufffd]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  // Numbers.
  const unknown = "–";
  const finite = (x) => (Number.isFinite(x) && Math.abs(x) < 1e18 ? x : 0);
  const minus = (text) => text.replace(/^-/, "−");
  const count = (x) => minus(Math.round(finite(x)).toLocaleString("en-US"));
  const digits = (x) => {
    x = finite(x);
    const size = Math.abs(x);
    if (size === 0) return "0";
    return size >= 99.95 ? count(x) : minus(x.toFixed(size >= 9.995 ? 1 : 2));
  };
  const seconds = (x) => {
    x = finite(x);
    if (x !== 0 && Math.abs(x) < 0.1) return `${digits(1e3 * x)} ms`;
    return Math.abs(x) >= 7200 ? `${digits(x / 3600)} h` : `${digits(x)} s`;
  };
  const micros = (x) => `${digits(x)} µs`;
  const size = (x) => {
    x = finite(x);
    for (const unit of ["B", "kB", "MB", "GB"]) {
      if (Math.abs(x) < 999.5) return `${digits(x)} ${unit}`;
      x /= 1e3;
    }
    return `${digits(x)} TB`;
  };
  const share = (x) => `${count(100 * finite(x))} %`;
  const change = (x) => (share(Math.abs(x)) === "0 %" ? "0 %" : (x < 0 ? "−" : "+") + share(Math.abs(x)));
  const counted = (n, thing) => `${count(n)} ${thing}${n === 1 ? "" : "s"}`;
  const ratio = (a, b) => (b ? a / b : 0);
  const cell = (measured, figure) => (measured ? figure() : unknown);

  // Elements.
  const h = (name, attributes, ...inside) => {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes ?? {})) if (value !== false && value != null) e.setAttribute(key, value);
    e.append(...inside.flat(Infinity).filter((x) => x != null && x !== ""));
    return e;
  };
  const svg = (name, attributes, ...inside) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...inside);
    return e;
  };
  const list = (items) => (items?.length ? h("ul", {}, items.map((t) => h("li", {}, plain(t)))) : null);

  // table: columns are [name, kind], kinds are number, words and code; rows are lists of cells, with best or across beside them.
  const table = (columns, rows, title, folded) => {
    if (!rows.length) return null;
    const pairs = columns.every(([name]) => !name);
    const body = rows.map((row) => {
      if (row.across) return h("tr", { class: "across" }, h("th", { colspan: columns.length }, row.across));
      const cells = (row.cells ?? row).map((text, i) => h("td", { class: columns[i][1] }, columns[i][1] === "code" ? h("code", {}, plain(text)) : plain(text)));
      return h("tr", { class: row.best ? "best" : null }, cells);
    });
    const whole = h("div", { class: "scroll" }, h("table", { class: pairs ? "pairs" : null },
      title && !folded ? h("caption", {}, title) : null,
      pairs ? null : h("thead", {}, h("tr", {}, columns.map(([name, kind]) => h("th", { scope: "col", class: kind }, name)))),
      h("tbody", {}, body)));
    return folded ? h("details", {}, h("summary", {}, title), whole) : whole;
  };

  const legend = (names) => (names.length < 2 ? null : h("p", { class: "legend" }, names.map(([name, role]) => h("span", {}, h("i", { class: `c-${role}` }), name))));
  const figure = (title, ...inside) => h("figure", {}, h("figcaption", {}, title), inside);

  // bars: a bar, or one for each series, beside each label. The series are {name, role, values}; of a stack the figure is the sum.
  const bars = (title, labels, series, write, { stacked = false, roles, wide } = {}) => {
    const value = (s, i) => Math.max(0, finite(s.values[i]));
    const sum = (i) => series.reduce((all, s) => all + value(s, i), 0);
    const longest = Math.max(...labels.map((_, i) => (stacked ? sum(i) : Math.max(...series.map((s) => value(s, i))))), 1e-12);
    const bar = (s, i) => {
      const part = h("span", { class: `bar c-${roles ? roles[i] : s.role}`, title: `${labels[i]}: ${s.name} ${write(s.values[i])}` });
      part.style.width = `${100 * value(s, i) / longest}%`;
      return part;
    };
    const rows = labels.map((label, i) => {
      const tracks = stacked ? [[series, sum(i)]] : series.map((s) => [[s], value(s, i)]);
      return [h("span", { class: "label", title: label }, label), h("span", { class: "tracks" },
        tracks.map(([parts, all]) => h("span", { class: "track" }, h("span", { class: "room" }, parts.filter((s) => value(s, i) > 0).map((s) => bar(s, i))), h("span", { class: "figure" }, write(all)))))];
    });
    return figure(title, legend(series.map((s) => [s.name, s.role])), h("div", { class: wide ? "bars wide" : "bars" }, rows));
  };

  // The datasets of all runs.
  const runs = (r) => [r, ...(r.merged ?? []).flatMap(runs)];
  const all = runs(report);
  const subjects = all.flatMap((run) => run.datasets.map((d) => {
    const name = plain(d.path);
    return { ...d, run, name, full: (all.length > 1 && run.source ? `${plain(run.source)}: ` : "") + name };
  }));
  const waits = (d) => d.run.consumer !== "loader alone" && (!d.costs || Boolean(d.costs.loop));
  const setup = (r) => {
    const o = r.options ?? {}, m = r.machine ?? {};
    const cores = m.gomaxprocs > 0 ? counted(m.gomaxprocs, "core") : "";
    return [plain(r.source), plain(r.consumer), cores && o.workers > 0 ? `${counted(o.workers, "worker")} on ${cores}` : cores, plain(m.device),
      o.batch > 0 ? `batches of ${o.batch}` : "", o.rounds > 0 ? `medians of ${counted(o.rounds, "round")}` : ""].filter(Boolean).join(" · ");
  };
  const bySubject = (list, columns, cells, title, folded) => {
    const rows = [];
    list.forEach((d, i) => {
      if (i > 0 && d.run !== list[i - 1].run) rows.push({ across: setup(d.run) });
      rows.push([d.name, ...cells(d)]);
    });
    return table([["dataset", "code"], ...columns.map((name) => [name, "number"])], rows, title, folded);
  };
  const series = (list, name, role, f) => ({ name, role, values: list.map(f) });
  const labels = (list) => list.map((d) => d.full);

  // Causes: the head of the page, what would go, and the colour.
  const causes = {
    storage: ["Storage-bound", "reading", "read"], decode: ["Decode-bound", "decoding", "decode"], augment: ["Augmentation-bound", "augmentation", "augment"],
    collate: ["Collate-bound", "collating", "collate"], python: ["Python code", "Python code", "python"],
    transfer: ["Transfer-bound", "copies to the device", "transfer"], compute: ["Compute-bound", "the loop's own step", "step"],
    cores: ["Short of CPU cores", "waiting for a core", "queue"], swap: ["Swapping", "swapping", "swap"],
    start: ["Slow start of epochs", "start of the epoch", "start"], loading: ["Loading-bound", "waiting for data", "wait"], balanced: ["Balanced", "", "step"],
  };
  const cause = (c, part, i) => {
    const name = causes[c]?.[i] ?? plain(c);
    return part && part.toLowerCase() !== c ? `${name}: ${plain(part)}` : name;
  };
  const role = (c) => causes[c]?.[2] ?? "other";
  // headline is a verdict's text without the name of its cause, which stands above it.
  const headline = (text) => {
    const [name, rest] = plain(text).split(/: (.*)/s);
    return upper(rest && name.length < 20 && !/\d/.test(name) ? rest : plain(text));
  };

  // The answer for the first dataset.
  const summary = () => {
    const d = subjects[0], v = d.verdict, a = report.advice;
    const figures = [[seconds(d.epoch_seconds), "an epoch"], [count(d.images_per_second), "images/s"]];
    if (waits(d)) figures.push([share(d.starved), "of the epoch the loop waited"]);
    if (v?.gain > 0) figures.push([share(v.gain), "shorter, if that cost nothing"]);
    if (a?.best) figures.push([seconds(a.best.after_seconds), "an epoch after the change, predicted"]);
    const command = a?.best ? plain(a.best.command) : "";
    return h("section", { class: `summary c-${v ? role(v.cause) : "other"}` },
      v ? h("p", { class: "cause" }, cause(v.cause, v.part, 0)) : null,
      h("h1", {}, v ? headline(v.text) : plain(d.diagnosis) || `An epoch takes ${seconds(d.epoch_seconds)}.`),
      h("p", { class: "subject" }, h("code", {}, d.name)), h("p", { class: "setup" }, setup(report)),
      h("dl", { class: "figures" }, figures.map(([value, label]) => h("div", {}, h("dt", {}, label), h("dd", {}, value)))),
      v?.evidence?.length ? h("ul", { class: "evidence" }, v.evidence.map((t) => h("li", {}, plain(t)))) : null,
      a ? h("div", { class: "advice" }, h("h2", {}, "What to do"), h("p", {}, plain(a.text)),
        command ? h("div", { class: "command" }, h("code", {}, command), h("button", { type: "button", class: "copy" }, "Copy")) : null) : null);
  };

  const verdicts = () => subjects.filter((d) => d.verdict || d.diagnosis).map((d, i) => {
    const v = d.verdict;
    const head = subjects.length > 1 ? h("h3", {}, d.full) : null;
    if (!v) return [head, h("p", {}, plain(d.diagnosis))];
    const saved = [v, ...(v.others ?? [])].filter((o) => o.cause !== "balanced");
    return [head, i > 0 ? [h("p", {}, plain(v.text)), list(v.evidence)] : null,
      saved.length ? bars("What the epoch would save if one cause cost nothing", saved.map((o) => cause(o.cause, o.part, 1)),
        [{ name: "of the epoch saved", role: "other", values: saved.map((o) => o.gain) }], share, { roles: saved.map((o) => role(o.cause)) }) : null];
  });

  const pixels = (c) => {
    if (c.lossless || c.setting) return "the same";
    return "changed";
  };
  const candidates = (a) => {
    const list = a?.candidates ?? [], before = list[0]?.before_seconds;
    if (!list.length) return null;
    const is = (name, role, values) => ({ name, role, values });
    const kept = (c) => c.lossless || c.setting;
    return [
      bars("Seconds of an epoch: as it is, and predicted", ["as it is", ...list.map((c) => plain(c.command))], [
        is("as it is", "other", [before, ...list.map(() => 0)]), is("same pixels", "good", [0, ...list.map((c) => (kept(c) ? c.after_seconds : 0))]),
        is("changes pixels", "swap", [0, ...list.map((c) => (kept(c) ? 0 : c.after_seconds))]),
      ], seconds, { stacked: true, wide: true }),
      table([["command", "code"], ["pixels", "words"], ...["epoch", "saves", "on disk", "packing", "pays after"].map((n) => [n, "number"])], list.map((c) => ({
        best: a.best?.command === c.command,
        cells: [c.command, pixels(c), seconds(c.after_seconds), share(ratio(c.before_seconds - c.after_seconds, c.before_seconds)),
          cell(!c.setting, () => size(c.disk_bytes) + (c.extra_disk ? ` (${change(c.extra_disk)})` : "")), cell(c.pack_seconds > 0, () => seconds(c.pack_seconds)),
          cell(c.break_even_epochs > 0, () => `${finite(c.break_even_epochs).toFixed(1)} epochs`)],
      })), "What was considered"),
    ];
  };
  const advice = () => all.filter((run) => run.advice).map((run) => [
    run === report ? null : [h("h3", {}, setup(run)), h("p", {}, plain(run.advice.text))], candidates(run.advice),
  ]);

  const epochs = () => {
    const waited = (d) => (waits(d) ? d.epoch_seconds * d.starved : 0), loops = subjects.some(waits);
    const stacks = [series(subjects, loops ? "the loop works" : "loading", "step", (d) => d.epoch_seconds - waited(d))];
    if (loops) stacks.unshift(series(subjects, "the loop waits for data", "wait", waited));
    const trained = subjects.filter((d) => d.transfer_seconds > 0 || d.accuracy != null || d.loss != null);
    return [
      bars("Seconds of an epoch", labels(subjects), stacks, seconds, { stacked: true }),
      bySubject(subjects, ["epoch", "images/s", "ratio", "loop waited", "CPU per image", "busy cores"], (d) => [
        seconds(d.epoch_seconds), count(d.images_per_second), finite(d.ratio).toFixed(2), cell(waits(d), () => share(d.starved)),
        cell(d.cpu_us_per_image > 0, () => micros(d.cpu_us_per_image)), cell(d.busy_cores > 0, () => digits(d.busy_cores)),
      ]),
      bySubject(trained, ["wait", "transfer", "loss", "accuracy"], (d) => [
        cell(waits(d), () => seconds(waited(d))), cell(d.transfer_seconds > 0, () => seconds(d.transfer_seconds)),
        cell(d.loss != null, () => Number(finite(d.loss).toPrecision(4)).toString()), cell(d.accuracy != null, () => `${(100 * finite(d.accuracy)).toFixed(2)} %`),
      ], "The training loop, per epoch"),
      bySubject(subjects.flatMap((d) => (d.rounds ?? []).map((r, i) => ({ ...d, r, i }))), ["round", "images", "time", "images/s", "ratio", "loop waited", "CPU"], ({ r, i, ...d }) => [
        i + 1, count(r.images), seconds(r.seconds), count(ratio(r.images, r.seconds)), finite(r.ratio).toFixed(2), cell(waits(d), () => seconds(r.wait_seconds)),
        cell(r.cpu_seconds > 0, () => seconds(r.cpu_seconds)),
      ], "All rounds", true),
    ];
  };

  const names = ["read", "decode", "augment", "collate", "step"];
  const stages = () => {
    const of = (d) => d.stage_us_per_image ?? {};
    const list = subjects.filter((d) => names.some((n) => of(d)[n] > 0));
    const loaded = (d) => names.slice(0, 4).some((n) => of(d)[n] > 0);
    return [
      list.length ? [
        h("p", {}, "Microseconds that an image takes in each stage. The step is the loop's; the other stages are summed over the workers, which work at the same time."),
        bars("Microseconds per image, by stage", labels(list), names.map((n) => series(list, n, n, (d) => of(d)[n])), micros, { stacked: true }),
        bySubject(list, names, (d) => names.map((n) => cell(n === "step" || loaded(d), () => micros(of(d)[n])))),
      ] : null,
      subjects.filter((d) => d.costs?.parts?.length).map((d) => [h("h3", {}, `Parts of ${d.full}`), parts(d.costs)]),
    ];
  };
  // parts: what the workers do, on a core, ready without a core, or waiting.
  const parts = (c) => [
    bars("Microseconds per image, by part of the loader", c.parts.map((p) => plain(p.name)), [
      { name: "on a core", role: "step", values: c.parts.map((p) => p.cpu_us ?? 0) },
      { name: "ready, but no core was free", role: "queue", values: c.parts.map((p) => p.queue_us ?? 0) },
      { name: "waits (disk, locks, sleep)", role: "wait", values: c.parts.map((p) => p.wall_us - (p.cpu_us ?? 0) - (p.queue_us ?? 0)) },
    ], micros, { stacked: true }),
    table([["part", "code"], ["stage", "words"], ["time", "number"], ["on a core", "number"], ["no core free", "number"], ["native equal", "code"]], c.parts.map((p) => [
      p.name, plain(p.kind) + (p.python ? ", in Python" : ""), micros(p.wall_us), cell(p.cpu_us >= 0.005, () => micros(p.cpu_us)),
      cell(p.queue_us >= 0.005, () => micros(p.queue_us)), p.native || unknown,
    ])),
    list([
      c.loader_us > 0 && `The loader alone takes ${micros(c.loader_us)} an image once it runs.`,
      c.step_us > 0 && `The loop alone takes ${micros(c.step_us)} an image, on batches in memory.`,
      c.transfer_us > 0 && `It waits ${micros(c.transfer_us)} an image for copies to the device.`,
      c.start_seconds > 0 && `An epoch starts with ${seconds(c.start_seconds)} in which nothing is loaded yet.`,
      (c.swap_us > 0 || c.swap_in_bytes > 0) && `Workers waited ${micros(c.swap_us)} an image for memory to be read back: ${size(c.swap_in_bytes)}.`,
      c.other_cores > 0 && `Other programs kept ${digits(c.other_cores)} cores busy.`,
    ].filter(Boolean)),
  ];

  // lanes: what the loop and each worker did over time. The width shows the first batches; the rest is reached by scrolling.
  const shown = 40, laneHeight = 26, mostWidth = 30000;
  const lanes = (t) => {
    const workers = [...new Set((t.loads ?? []).map((l) => l.worker))].sort((a, b) => a - b).slice(0, 32);
    const end = finite(t.batches.at(-1).done), spans = [];
    const add = (lane, role, begin, until, text) => until > begin && begin < end && spans.push([lane, role, begin, Math.min(until, end), `${text}: ${seconds(until - begin)}, from ${seconds(begin)} to ${seconds(until)}`]);
    t.batches.forEach((b, i) => {
      add(0, "wait", b.asked, b.ready, `the loop waits for batch ${i + 1}`);
      add(0, "step", b.ready, b.done, `the loop works on batch ${i + 1}`);
    });
    for (const l of t.loads ?? []) if (workers.includes(l.worker)) add(1 + workers.indexOf(l.worker), "decode", l.begin, l.end, `worker ${l.worker} loads`);
    const height = (1 + workers.length) * laneHeight;
    const box = h("div", { class: "lane-box" });
    const draw = () => {
      const room = box.clientWidth || 600;
      const scale = Math.min(mostWidth, Math.max(room, room * ratio(end, t.batches[Math.min(shown, t.batches.length) - 1].done))) / (end || 1);
      const step = [1, 2, 5].flatMap((n) => [-4, -3, -2, -1, 0, 1, 2, 3].map((p) => n * 10 ** p)).sort((a, b) => a - b).find((x) => x * scale >= 90) ?? end;
      const picture = svg("svg", { width: Math.max(1, scale * end), height: height + 22, role: "img", "aria-label": "What the loop and the workers do" });
      for (let x = 0; x <= end && step > 0; x += step) {
        picture.append(svg("line", { x1: x * scale, x2: x * scale, y1: 0, y2: height + 4 }), svg("text", { x: x * scale + 3, y: height + 17 }, seconds(x).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "")));
      }
      for (const [lane, role, begin, until, text] of spans) {
        picture.append(svg("rect", { class: `c-${role}`, x: begin * scale, y: lane * laneHeight + 4, height: laneHeight - 8, width: Math.max(0.5, (until - begin) * scale - 0.5) }, svg("title", {}, text)));
      }
      box.replaceChildren(picture);
    };
    new ResizeObserver(draw).observe(box);
    const heads = [["the loop waits for a batch", "wait"], ["the loop works", "step"], ...(workers.length ? [["a worker loads", "decode"]] : [])];
    return figure("What the loop and the workers do, in seconds since the epoch's begin", legend(heads),
      h("div", { class: "lanes" }, h("div", { class: "lane-names" }, ["loop", ...workers.map((w) => `worker ${w}`)].map((n) => h("span", {}, n))), box));
  };
  const timeline = () => subjects.filter((d) => d.timeline?.batches?.length).map((d) => {
    const t = d.timeline, last = finite(t.batches.at(-1).done), sum = (list, f) => list.reduce((all, x) => all + f(x), 0);
    const waited = sum(t.batches, (b) => b.ready - b.asked), workers = new Set((t.loads ?? []).map((l) => l.worker)).size;
    const loaded = sum(t.loads ?? [], (l) => Math.min(l.end, last) - Math.min(l.begin, last));
    return [
      h("h3", {}, d.full),
      h("p", {}, "Each bar of the loop is a batch. Where the loop waits, no batch was ready; where workers have gaps, the loop had not yet taken what they had loaded."),
      lanes(t),
      table([["", "words"], ["", "number"]], [
        ["epoch", seconds(t.seconds)], ["first batch after", seconds(t.batches[0].ready)], ["the loop waited", share(ratio(waited, last))],
        ["the loop worked", share(1 - ratio(waited, last))], ...(workers ? [[`${counted(workers, "worker")} loading`, share(ratio(loaded, last * workers))]] : []),
      ], "Busy and waiting"),
    ];
  });

  const sizes = () => {
    const listed = subjects.filter((d) => d.disk_bytes > 0 || d.peak_memory_bytes > 0);
    if (!listed.length) return null;
    const estimate = (d) => Object.values(d.memory_estimate ?? {}).reduce((a, b) => a + finite(b), 0);
    return [
      bars("Bytes on disk, and the largest memory of the process", labels(listed), [
        series(listed, "on disk", "read", (d) => d.disk_bytes), series(listed, "peak memory", "collate", (d) => d.peak_memory_bytes),
        series(listed, "of it pages of the files", "other", (d) => d.mapped_bytes),
      ], size),
      bySubject(listed, ["samples", "on disk", "of the first", "per sample", "peak memory", "mapped", "memory estimated"], (d) => {
        const first = d.run.datasets[0].disk_bytes;
        return [count(d.samples), cell(d.disk_bytes > 0, () => size(d.disk_bytes)), cell(d.disk_bytes > 0 && first > 0, () => ratio(d.disk_bytes, first).toFixed(2)),
          cell(d.disk_bytes > 0 && d.samples > 0, () => size(ratio(d.disk_bytes, d.samples))), cell(d.peak_memory_bytes > 0, () => size(d.peak_memory_bytes)),
          cell(d.peak_memory_bytes > 0, () => size(d.mapped_bytes)), cell(estimate(d) > 0, () => size(estimate(d)))];
      }),
    ];
  };

  const machine = () => [
    all.map((run) => {
      const m = run.machine ?? {}, written = (v) => (typeof v === "string" ? v : JSON.stringify(v));
      return [
        run === report ? null : h("h3", {}, setup(run)), list(run.notes),
        table([["", "words"], ["", "words"]], [
          ["cores", m.cores > 0 ? `${m.cores}, of which the run may use ${m.gomaxprocs}` : ""], ["memory", m.memory_bytes > 0 ? size(m.memory_bytes) : ""],
          ["system", `${m.os ?? ""} ${m.arch ?? ""}`.trim()], ["Go", m.go], ["Python", m.python], ["PyTorch", m.torch], ["device", m.device],
        ].filter(([, value]) => value), "Machine"),
        table([["option", "code"], ["value", "code"]], Object.entries(run.options ?? {}).filter(([, v]) => v || v === false).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, written(v)]), "Options", true),
      ];
    }),
    (() => {
      const remarks = subjects.flatMap((d) => [
        ...Object.entries(d.settings ?? {}).filter(([, v]) => v != null).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => `${k}=${v}`),
        d.narrowed > 0 && d.narrowed_how,
        d.bad_samples > 0 && `${count(d.bad_samples)} reads of bad samples`, d.cached_bytes > 0 && `${size(d.cached_bytes)} of images in the cache`,
      ].filter(Boolean).map((text) => `${d.name}: ${text}`));
      return remarks.length ? [h("h3", {}, "Remarks"), list(remarks)] : null;
    })(),
  ];

  // The page.
  const main = document.querySelector("main"), nav = document.querySelector("nav");
  main.replaceChildren(summary());
  for (const [id, short, title, make] of [
    ["verdict", "Verdict", "What holds the epoch back", verdicts], ["advice", "Advice", "Recommendation", advice], ["epochs", "Epochs", "Before and after", epochs],
    ["stages", "Stages", "Stages", stages], ["timeline", "Timeline", "Timeline of an epoch", timeline], ["sizes", "Sizes", "Sizes", sizes],
    ["machine", "Machine", "Machine and settings", machine],
  ]) {
    const inside = [make()].flat(Infinity).filter(Boolean);
    if (!inside.length) continue;
    main.append(h("section", { id, class: "part" }, h("h2", {}, title), inside));
    nav.append(h("a", { href: `#${id}` }, short));
  }

  // The choice of colours is kept where the browser lets a page keep something.
  const root = document.documentElement;
  const store = {
    get: () => { try { return localStorage.getItem("dsconv-theme") || ""; } catch { return ""; } },
    set: (v) => { try { localStorage.setItem("dsconv-theme", v); } catch { /* a page from a file may not */ } },
  };
  const choices = [...document.querySelectorAll("[data-choice]")];
  const choose = (theme) => {
    root.dataset.theme = theme;
    for (const b of choices) b.setAttribute("aria-pressed", String(b.dataset.choice === theme));
  };
  for (const b of choices) b.addEventListener("click", () => { store.set(b.dataset.choice); choose(b.dataset.choice); });
  document.querySelector(".theme").hidden = false;
  const kept = store.get();
  choose(["light", "dark"].includes(kept) ? kept : "");

  // Paper is light.
  let before;
  addEventListener("beforeprint", () => { before = root.dataset.theme; choose("light"); });
  addEventListener("afterprint", () => choose(before));

  for (const b of document.querySelectorAll(".copy")) {
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
