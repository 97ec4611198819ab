"""Measures what an engine costs: the seconds of `dsconv pack -j 2`, and of each engine with two slots of one thread.

    python lab/engines/overhead.py BUILD RESULT.json ROUNDS NAME...    # make engines-overhead does this

A NAME is a file slots/NAME.py. In every round `dsconv pack` and all engines pack the same photos with the same options,
in an order that turns from round to round. Each engine starts anew, in a network and with process numbers of its own.
The datasets must be equal, byte for byte. The result has the seconds of each round:

    pack     dsconv pack -j 2
    start    the engine's start, until it takes jobs
    plan     dsconv shards plan
    job      from the first call to the published dataset: missing, all shards, commit
    stop     the engine's stop

Nothing else should run on the machine.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.append(str(HERE / "tests"))

from job import OPTIONS, PATTERN, SHARDS, Job, assert_equal_bytes, dsconv, photos  # noqa: E402

SLOTS = 2


def main() -> None:
    if sys.argv[1] == "--engine":
        print(json.dumps(run_engine(*sys.argv[2:])))
        return
    build, result, rounds, *names = sys.argv[1:]
    folder = Path(build).resolve() / "overhead"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    sides = ["pack", *names]
    seconds: list[dict[str, dict[str, float]]] = []
    for number in range(int(rounds)):
        turned = sides[number % len(sides) :] + sides[: number % len(sides)]
        seconds.append(one_round(turned, Path(build).resolve(), folder))
        Path(result).write_text(json.dumps(summary(seconds), indent=1) + "\n")
        print(f"round {number}: {json.dumps(seconds[-1])}", flush=True)
    shutil.rmtree(folder)


def one_round(sides: list[str], build: Path, folder: Path) -> dict[str, dict[str, float]]:
    """Lets each side pack once, and compares what they made. The result has its seconds by side and step."""
    found = {side: pack(folder / side) if side == "pack" else engine(side, build, folder / side) for side in sides}
    for side in sides:
        assert_equal_bytes(folder / "pack" / "out", folder / side / "out")
    for side in sides:
        shutil.rmtree(folder / side)
    return found


def pack(folder: Path) -> dict[str, float]:
    (folder / "out").mkdir(parents=True)
    begin = time.monotonic()
    counts = (f"--shard-count={SHARDS}", f"-j={SLOTS}")
    dsconv("pack", photos(), str(folder / "out" / PATTERN), *counts, "--quiet", *OPTIONS)
    return {"pack": since(begin)}


def engine(name: str, build: Path, folder: Path) -> dict[str, float]:
    """Packs under an engine, in a process of its own with the engine's Python."""
    venv = build / name / "venv"
    if not venv.is_dir():
        venv = build / "python"
    begin = time.monotonic()
    job = Job(folder)
    planned = since(begin)
    environment = {**os.environ, "DSCONV_ENGINE": str(build / name), "PATH": f"{venv}/bin:{os.environ['PATH']}"}
    command = [HERE / "loopback", venv / "bin" / "python", __file__, "--engine", name, job.plan]
    done = subprocess.run([str(x) for x in command], env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name} failed with exit code {done.returncode}; its messages are above")
    return {"plan": planned, **json.loads(done.stdout.splitlines()[-1])}


def run_engine(name: str, plan: str) -> dict[str, float]:
    """Starts the engine, packs the plan, stops the engine."""
    # Not by its name: slots/ray.py must not be found as the module ray.
    specification = importlib.util.spec_from_file_location(f"slots_{name}", HERE / "slots" / f"{name}.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    begin = time.monotonic()
    seconds = {}
    with module.started(SLOTS) as run:
        seconds["start"], begin = since(begin), time.monotonic()
        run(plan)
        seconds["job"], begin = since(begin), time.monotonic()
    return {**seconds, "stop": since(begin)}


def since(begin: float) -> float:
    return round(time.monotonic() - begin, 3)


def summary(rounds: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """The rounds, and the median of each step."""
    medians = {
        side: {step: statistics.median(r[side][step] for r in rounds) for step in steps}
        for side, steps in rounds[0].items()
    }
    return {
        "machine": {"cores": os.cpu_count(), "system": platform.platform()},
        "version": dsconv("--version").strip(),
        "options": [*OPTIONS, f"--shards={SHARDS}"],
        "slots": SLOTS,
        "median_seconds": medians,
        "rounds": rounds,
    }


if __name__ == "__main__":
    main()
