"""The separate process of test_failing_disk.py, which must not crash: MODE FAULTHANDLER ARGUMENTS...

FAULTHANDLER says when faulthandler is enabled: before or after dsconv is loaded, or never. Each mode prints one line of
JSON.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

MODE, ENABLED, *ARGUMENTS = sys.argv[1:]
if ENABLED == "before":
    faulthandler.enable()

import dsconv  # noqa: E402
from dsconv import transforms as T  # noqa: E402

BATCH = 4


def train(path: str, on_error: str, at: int, happens: Callable[[], None]) -> dict[str, object]:
    """Reads an epoch, calls a function at one step of it, and then reads each sample alone."""
    found = {"seen": 0, "bad": 0, "error": ""}
    loader = dsconv.Loader(path, BATCH, transforms=T.Compose([T.CenterCrop(32)]), shuffle=True, on_error=on_error)
    if ENABLED == "after":
        faulthandler.enable()
    try:
        for step, (x, _) in enumerate(loader):
            found["seen"] += len(x)
            if step == at:
                happens()
    except dsconv.Error as e:
        found["error"] = str(e)
    found["bad"] = loader.bad()["times"]
    loader.close()
    return found


def single(path: str, happens: Callable[[], None]) -> list[str]:
    """The errors of samples that are read one by one, from a dataset that a function damages meanwhile."""
    errors = []
    dataset = dsconv.Dataset(path)
    if ENABLED == "after":
        faulthandler.enable()
    at = random.randrange(len(dataset))
    for i in range(len(dataset)):
        if i == at:
            happens()
        try:
            dataset[i]
        except dsconv.Error as e:
            errors.append(str(e))
    dataset.close()
    return errors


def cut(folder: Path) -> None:
    """Truncates all files in a folder by whole pages."""
    for file in folder.rglob("*"):
        if file.is_file():
            size = int(file.stat().st_size * random.random())
            os.truncate(file, size - size % mmap.PAGESIZE)


def accidents(on_error: str, moments: str, work: str, source: str) -> list[object]:
    """Truncates files at random steps of epochs."""
    found = []
    work = Path(work)
    for _ in range(int(moments)):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(Path(source).parent, work)
        path = str(work / Path(source).name)
        result = train(path, on_error, random.randrange(12), lambda: cut(work))
        shutil.rmtree(work)
        shutil.copytree(Path(source).parent, work)
        result["single"] = single(path, lambda: cut(work))
        found.append(result)
    return found


def failing(on_error: str, moments: str, source: str) -> list[object]:
    """Makes a share of all reads fail from a random step on; a line of output has the share."""
    found = []

    def share(x: float) -> None:
        print(x, flush=True)
        sys.stdin.readline()

    for _ in range(int(moments)):
        result = train(source, on_error, random.randrange(12), lambda: share(random.choice([0.1, 0.5, 0.9])))
        share(0)
        result["single"] = single(source, lambda: share(0.5))
        share(0)
        found.append(result)
    return found


def elsewhere(source: str, unfinished: str) -> None:
    """Reads a mapping that is not dsconv's after the end of its file, in the middle of an epoch."""
    file = Path(unfinished)
    file.write_bytes(bytes(2 * mmap.PAGESIZE))
    with file.open("r+b") as f:
        memory = mmap.mmap(f.fileno(), 0)
        os.truncate(file, 0)
        train(source, "raise", 3, lambda: memory[mmap.PAGESIZE])


if MODE == "elsewhere":
    elsewhere(*ARGUMENTS)
else:
    *options, sources = ARGUMENTS
    work = {"accidents": accidents, "failing": failing}[MODE]
    print(json.dumps({source: work(*options, source) for source in sources.split(":")}), flush=True)
