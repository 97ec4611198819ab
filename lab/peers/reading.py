"""Reading: dsconv's loader on the folder and on packed datasets, compared with PyTorch's ImageFolder."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
from pathlib import Path

from loaders import pytorch, work
from timing import Comparison

# The packed datasets, their options, and the minimum speed compared with the folder by the same reader.
DATASETS = {
    "keep.lmdb": ([], 0.98),
    "keep-%06d.tar": ([], 0.98),
    "small.lmdb": (["--resize", "shorter:256", "--encode", "jpeg:90"], 1.7),
    "raw.h5": (["--resize", "cover:256x256", "--encode", "raw"], 4.0),
}
FOLDER = "images"
# Rounds of dsconv bench in each round here, after its warm-up.
BENCH_ROUNDS = 2


def compare(
    dsconv: Path, images: Path, scratch: Path, rounds: int, workers: int
) -> tuple[list[Comparison], list[dict]]:
    """The comparisons, and dsconv's reports, one for each round."""
    data = scratch / "read"
    prepare(dsconv, images, data)
    peer = Comparison("read", "folder", "ImageFolder, DataLoader", 1.0)
    packed = {name: Comparison("read", name, "folder, same reader", wanted) for name, (_, wanted) in DATASETS.items()}
    epoch = pytorch.image_folder(images, scratch, workers)
    epoch()  # starts the workers and warms up
    reports = []
    for _ in range(rounds):
        report = bench(dsconv, data, workers)
        reports.append(report)
        ours = {d["path"]: [r["seconds"] for r in d["rounds"]] for d in report["datasets"]}
        peer.our_seconds.append(statistics.median(ours[FOLDER]))
        count, seconds = epoch()
        peer.their_seconds.append(seconds / count * report["datasets"][0]["rounds"][0]["images"])
        for name, c in packed.items():
            c.our_seconds += ours[name]
            c.their_seconds += ours[FOLDER]
    return [*packed.values(), peer], reports


def prepare(dsconv: Path, images: Path, data: Path) -> None:
    """Packs the datasets into a folder, and adds a link to the images."""
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    (data / FOLDER).symlink_to(images)
    for name, (options, _) in DATASETS.items():
        subprocess.run([dsconv, "pack", FOLDER, name, "--quiet", *options], cwd=data, check=True)


def bench(dsconv: Path, data: Path, workers: int) -> dict:
    """The report of a few interleaved rounds."""
    subprocess.run(
        [dsconv, "bench", FOLDER, *DATASETS, "--rounds", str(BENCH_ROUNDS), "--batch", str(work.BATCH)]
        + ["--size", str(work.SIZE), "--workers", str(workers), "--quiet", "--json", "report.json"],
        cwd=data,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return json.loads((data / "report.json").read_text())
