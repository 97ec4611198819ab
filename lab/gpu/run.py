#!/usr/bin/env python3
"""Measures and checks what dsconv does with a GPU: `make gpu-check`, described in docs/gpu.md.

It needs Python's standard library, numpy, and the wheel of dsconv in build/gpu or build/wheel; each part says what else
it needs. A part runs in a process of its own and writes OUT/gpu-PART.json at its end. It is skipped if the machine has
not what it needs, and the next part runs whatever became of it.

Exit codes: 0 every part is done, 3 some were skipped, 1 one failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine
import prepare
from setting import Setting

ROOT = Path(__file__).resolve().parents[2]

# The parts in their order, with the seconds that are kept for each: what needs the GPU most comes first, and what the
# parts before leave may be used too.
PARTS = {"decode": 90, "tests": 70, "loader": 40, "train": 200, "pack": 25, "xla": 50, "cpu": 50, "probe": 90}
LAST_WORDS = 3.0  # seconds in which a part that hangs says where
DONE, FAILED, USAGE, SKIPPED = 0, 1, 2, 3


def main() -> int:
    asked = parse()
    ends = time.monotonic() + asked.seconds
    asked.out.mkdir(parents=True, exist_ok=True)
    asked.work.mkdir(parents=True, exist_ok=True)
    try:
        setting = prepare.prepare(ROOT, asked)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        print(f"gpu-check: {error}", file=sys.stderr)
        return FAILED
    here = machine.describe(setting)
    print(machine.text(here), flush=True)
    results = []
    for n, part in enumerate(asked.parts):
        results.append(run(part, setting, here, asked.out, limit(asked.parts[n:], ends - time.monotonic())))
    for part, (status, told) in zip(asked.parts, results):
        print(f"{part:8} {status:8} {told}")
    statuses = {status for status, _ in results}
    return FAILED if "failed" in statuses else SKIPPED if "skipped" in statuses else DONE


def parse() -> argparse.Namespace:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("gpu-check", description=__doc__, formatter_class=plain)
    add = parser.add_argument
    add("--parts", type=parts, default=list(PARTS), help=f"separated by commas or spaces: {', '.join(PARTS)}")
    add("--out", type=Path, default=ROOT / "bench" / "results", help="folder of the JSON files")
    add("--work", type=Path, default=ROOT / "build" / "gpu-work", help="folder for photos and datasets, which stay")
    add("--wheels", type=Path, default=ROOT / "build" / "gpu", help="folder of wheels, by make gpu-pack")
    add("--images", type=int, default=6144, help="photos to draw (default: 6144)")
    add("--size", default="500x375", help="of the photos (default: 500x375)")
    add("--seconds", type=float, default=530, help="after which no part runs (default: 530)")
    add("--turn", type=float, default=1, help="seconds of each measurement of loading (default: 1)")
    add("--nvjpeg", default="", help="path of libnvjpeg.so (default: found)")
    add("--models", type=words, default=["resnet18", "resnet50"], help="part train: networks (default: both ResNets)")
    add("--compile", action="store_true", help="part train: torch.compile the networks")
    return parser.parse_args()


def words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def parts(text: str) -> list[str]:
    found = words(text) or list(PARTS)
    for name in found:
        if name not in PARTS:
            raise argparse.ArgumentTypeError(f"unknown part {name}: choose from {', '.join(PARTS)}")
    return found


def limit(parts: list[str], left: float) -> float:
    """Seconds for the first of the parts that are still to run: of those that are left, all that are not kept for the
    others."""
    return min(left, max(PARTS[parts[0]], left - sum(PARTS[part] for part in parts[1:])))


def run(part: str, setting: Setting, here: dict, out: Path, limit: float) -> tuple[str, str]:
    """Runs a part for limit seconds at most, and writes its file.

    Returns its status, and where the result is or why there is none.
    """
    began = time.monotonic()
    print(f"== {part}", flush=True)
    if limit < 5:
        found = {"status": "skipped", "reason": f"no time was left: run it alone with PARTS={part}"}
    else:
        found = child(part, setting, limit)
    found = {"part": part, **found, "seconds": round(time.monotonic() - began, 1), "machine": here}
    path = out / f"gpu-{part}.json"
    path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return found["status"], found.get("reason", str(path))


def child(part: str, setting: Setting, limit: float) -> dict:
    """The outcome of the part's process: a crash or a hang is that part's failure."""
    with tempfile.TemporaryDirectory(dir=setting.work) as folder:
        result = Path(folder, "result.json")
        command = [sys.executable, str(Path(__file__).with_name("part.py")), part, setting.to_json(), str(result)]
        process = subprocess.Popen(command, env=setting.environment(), start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            ask_where(process)
        finally:
            kill(process)
        found = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    if code is None:
        hung = {"hung": found["reason"]} if "reason" in found else {}  # the stacks of a dsconv that the part waited for
        return {**found, "status": "failed", "reason": f"it was not done after {limit:.0f} s and was ended", **hung}
    if code != 0:
        return {**found, "status": "failed", "reason": found.get("reason", f"its process ended with code {code}")}
    return found


def ask_where(process: subprocess.Popen) -> None:
    """Makes the part and the dsconv that it waits for tell their stacks on standard error."""
    try:
        os.killpg(process.pid, signal.SIGQUIT)
        process.wait(LAST_WORDS)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass


def kill(process: subprocess.Popen) -> None:
    """Ends the process and those that it started. One that hangs inside the driver is left behind: it may never end."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        process.wait(LAST_WORDS)
    except subprocess.TimeoutExpired:
        print(f"gpu-check: process {process.pid} does not end", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
