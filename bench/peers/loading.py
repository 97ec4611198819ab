"""Training input: dsconv's loader on JPEGs, plain and tiled, beside FFCV, DALI and PyTorch's ImageFolder."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

import loaders
from timing import Comparison
from workbench import Workbench

PLAIN, TILED = "plain.lmdb", "tiled.lmdb"
# What is packed, and how.
DATASETS = {PLAIN: [], TILED: ["--encode", "jpeg-tiled"]}
# How many times as fast as a peer's ours is to be.
WANTED = [
    (TILED, "FFCV, original JPEGs", 2.0),
    (TILED, "DALI, CPU", 2.0),
    (TILED, "ImageFolder, DataLoader", 3.0),
    (PLAIN, "FFCV, original JPEGs", 1.25),
]
# Workers of a loader finish what they began before the next one is timed.
SETTLE = 0.3


def compare(s: Workbench) -> list[Comparison]:
    """One epoch of each loader in turn; the first turn warms up and is not counted."""
    work = s.scratch / "loading"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name, options in DATASETS.items():
        s.pack(s.images, work / name, *options)
    peers = {
        "FFCV, original JPEGs": loaders.ffcv(s.images, work, s.workers),
        "DALI, CPU": loaders.dali(s.images, s.workers),
        "ImageFolder, DataLoader": loaders.image_folder(s.images, s.workers),
    }
    comparisons = [Comparison("loaders", ours, theirs, wanted) for ours, theirs, wanted in WANTED]
    for n in range(s.rounds + 1):
        took = bench(s, work)
        images_read = took.pop("images")
        for name, epoch in peers.items():
            time.sleep(SETTLE)
            took[name] = epoch() * images_read
        for c in comparisons if n > 0 else []:
            c.our_seconds.append(took[c.ours])
            c.their_seconds.append(took[c.theirs])
    return comparisons


def bench(s: Workbench, work: Path) -> dict[str, float]:
    """The seconds of an epoch of each of our datasets, and the number of images."""
    subprocess.run(
        [s.dsconv, "bench", *DATASETS, "--rounds", "1", "--batch", str(loaders.BATCH), "--size", str(loaders.SIZE)]
        + ["--workers", str(s.workers), "--quiet", "--json", "report.json"],
        cwd=work,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    report = json.loads((work / "report.json").read_text())
    took = {d["path"]: d["rounds"][0]["seconds"] for d in report["datasets"]}
    took["images"] = report["datasets"][0]["rounds"][0]["images"]
    return took
