"""Runs other tools beside dsconv on the same images and prints one table of ratios. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

import packing
import reading
from timing import table


def main() -> None:
    args = arguments()
    images = args.images.resolve()
    if (images / "train").is_dir():
        images = images / "train"  # ImageFolder knows no splits
    dsconv, scratch = args.dsconv.resolve(), args.scratch.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    comparisons, reports = [], []
    if "pack" in args.sections:
        comparisons += packing.compare(dsconv, images, scratch, args.rounds, args.small_files)
    if "read" in args.sections:
        read, reports = reading.compare(dsconv, images, scratch, args.rounds, args.workers)
        comparisons += read
    print(f"medians of {args.rounds} rounds; ratio: how many times as fast dsconv was, the median of each round's")
    print(table(comparisons))
    if args.json:
        result = {
            "machine": machine(),
            "rounds": args.rounds,
            "workers": args.workers,
            "comparisons": [c.to_json() for c in comparisons],
            "bench_reports": reports,
        }
        args.json.write_text(json.dumps(result, indent=2) + "\n")


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--dsconv", type=Path, required=True, help="the binary")
    p.add_argument("--images", type=Path, required=True, help="folder of class folders of JPEGs")
    p.add_argument("--scratch", type=Path, required=True, help="folder for everything that is written")
    p.add_argument("--json", type=Path, help="file for the figures of every round")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--workers", type=int, default=2, help="of both loaders")
    p.add_argument("--small-files", type=int, default=60_000)
    p.add_argument("--sections", nargs="+", choices=["pack", "read"], default=["pack", "read"])
    return p.parse_args()


def machine() -> dict:
    packages = ["torch", "torchvision", "Pillow", "lmdb", "numpy"]
    return {
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.system(),
        "arch": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
    }


if __name__ == "__main__":
    main()
