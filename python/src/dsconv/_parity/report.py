"""A certificate as text."""

from __future__ import annotations

import json

from .certificate import Certificate, Path

MAX_KEYS = 5  # that a line names


def text_of(c: Certificate) -> str:
    judge, ours = c.judge, c.dsconv
    torchvision = f"; torchvision {judge['torchvision']}" if "torchvision" in judge else ""
    lines = [
        f"recipe   {', '.join(f'{key} {value}' for key, value in c.recipe.items())}",
        f"dsconv   {ours['decoder']} {ours['decoder_version']}, resampler {ours['resampler']}",
        f"Pillow   {judge['pillow']}, {judge['jpeg']}, Python {judge['python']}{torchvision}",
    ]
    if c.gpu:
        lines.append(f"GPU      {c.gpu['card']}, nvJPEG {c.gpu['nvjpeg']}, driver for CUDA {c.gpu['driver']}")
    wide = max([12, *(len(p.name) for p in c.paths)])
    lines += [
        "",
        f"{'path':<{wide}} {'images':>7} {'differ':>7} {'largest':>7} {'PSNR':>7} {'least':>7}",
    ]
    for p in c.paths:
        figures = f"{p.images:7} {p.differ:7} {p.largest:7} {_decibels(p.psnr):>7} {_decibels(p.min_psnr):>7}"
        lines.append(f"{p.name:<{wide}} {figures}  {p.what}")
    lines.append("")
    for p in c.paths:
        lines += _beyond_table(p)
    lines += _keys("not in the source", c.missing)
    lines += _keys("another file than was packed, what is stored was not compared with it", c.changed)
    lines += [f"note: {note}" for note in c.notes]
    if c.equal:
        end = "the pixels of every default path are Pillow's"
        if any(p.not_judged for p in c.paths):
            end = "no default path differs where this Pillow is a judge"
        lines.append(f"{c.chosen - len(c.missing)} of {c.samples} samples compared: {end}")
    return "".join(line + "\n" for line in lines)


def _beyond_table(p: Path) -> list[str]:
    lines = []
    if p.allowed and p.worst:
        key, peak = _printable(p.worst[0]), (1 << p.bits) - 1
        lines.append(f"{p.name} may differ, {p.allowed}: most {key}, by {p.largest} of {peak}")
        equal = f"{100 * p.equal_share:.1f} % of the values are equal"
        lines.append(f"{p.name}: mean difference {p.mean:.3f} of 255, {equal}")
    if wrong := p.verdict():
        lines.append(f"differs: {_printable(wrong)}")
    lines += [f"{p.name}: {n} images not judged: {why}" for why, n in sorted(p.not_judged.items())]
    excused = [f"{r['key']} ({r.get('dsconv', '')})" for r in p.refused if r["excused"]]
    return lines + _keys(f"{p.name}: decoded by neither, or not supported", excused)


def _keys(what: str, keys: list[str]) -> list[str]:
    if not keys:
        return []
    more = f" and {len(keys) - MAX_KEYS} more" if len(keys) > MAX_KEYS else ""
    return [f"{what}: {len(keys)}: {_printable(', '.join(keys[:MAX_KEYS]))}{more}"]


def _printable(name: str) -> str:
    """Text from data, quoted where a line would not show it as it is."""
    return name if name.isprintable() and not name.startswith('"') else json.dumps(name, ensure_ascii=False)


def _decibels(psnr: float | None) -> str:
    return "equal" if psnr is None else f"{psnr:.2f}"
