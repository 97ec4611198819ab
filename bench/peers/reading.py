"""Reading: dsconv's loader on the folder and on what was packed from it, beside PyTorch's ImageFolder."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import torch
from timing import Comparison
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

BATCH = 64
SIZE = 224
# What is packed for reading, how, and the least speed beside the folder's by the same reader.
DATASETS = {
    "keep.lmdb": ([], 0.98),
    "keep-%06d.tar": ([], 0.98),
    "small.lmdb": (["--resize", "shorter:256", "--encode", "jpeg:90"], 1.7),
    "raw.h5": (["--resize", "cover:256x256", "--encode", "raw"], 4.0),
}
FOLDER = "images"
# Rounds of dsconv bench in each of ours; it warms up before them.
BENCH_ROUNDS = 2


def compare(
    dsconv: Path, images: Path, scratch: Path, rounds: int, workers: int
) -> tuple[list[Comparison], list[dict]]:
    """The comparisons and dsconv's own reports, one a round."""
    work = scratch / "read"
    prepare(dsconv, images, work)
    peer = Comparison("read", "folder", "ImageFolder, DataLoader", 1.0)
    packed = {name: Comparison("read", name, "folder, same reader", wanted) for name, (_, wanted) in DATASETS.items()}
    loader = image_folder(images, workers)
    epoch(loader)  # starts the workers and warms up
    reports = []
    for _ in range(rounds):
        report = bench(dsconv, work, workers)
        reports.append(report)
        ours = {d["path"]: [r["seconds"] for r in d["rounds"]] for d in report["datasets"]}
        peer.our_seconds.append(statistics.median(ours[FOLDER]))
        peer.their_seconds.append(epoch(loader))
        for name, c in packed.items():
            c.our_seconds += ours[name]
            c.their_seconds += ours[FOLDER]
    return [*packed.values(), peer], reports


def prepare(dsconv: Path, images: Path, work: Path) -> None:
    """Packs the datasets, beside a link to the images."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / FOLDER).symlink_to(images)
    for name, (options, _) in DATASETS.items():
        subprocess.run([dsconv, "pack", FOLDER, name, "--quiet", *options], cwd=work, check=True)


def bench(dsconv: Path, work: Path, workers: int) -> dict:
    """The report of a few interleaved rounds."""
    subprocess.run(
        [dsconv, "bench", FOLDER, *DATASETS, "--rounds", str(BENCH_ROUNDS), "--batch", str(BATCH), "--size", str(SIZE)]
        + ["--workers", str(workers), "--quiet", "--json", "report.json"],
        cwd=work,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return json.loads((work / "report.json").read_text())


def image_folder(images: Path, workers: int) -> DataLoader:
    """The usual training input: worker processes live on between epochs."""
    ops = [
        transforms.RandomResizedCrop(SIZE),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    ]
    torch.set_num_threads(1)  # DataLoader does so in its workers; the main process has nothing to compute
    data = ImageFolder(str(images), transforms.Compose(ops))
    return DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=workers, persistent_workers=True)


def epoch(loader: DataLoader) -> float:
    start = time.perf_counter()
    count = sum(len(labels) for _, labels in loader)
    assert count == len(loader.dataset)
    return time.perf_counter() - start
