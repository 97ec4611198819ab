"""Compares other tools with dsconv on the same images and prints a table of ratios. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib.metadata import distributions
from pathlib import Path

import packing
import reading
from timing import figures_table, table

# Each section with its parts, which --sections can select too.
SECTIONS = {
    "pack": [],
    "read": [],
    "objects": [],
    "pixels": ["decode", "encode", "photos", "resize", "transcode"],
    "loader": ["raw", "jpeg", "python-jpeg", "python-raw", "colour", "whole", "scaling", "memory"],
}
PACKAGES = [
    *["torch", "torchvision", "pillow", "lmdb", "numpy", "opencv-python-headless", "ffcv", "numba"],
    *["nvidia-dali-cuda120", "webdataset", "mosaicml-streaming", "litdata", "albumentations", "dsconv"],
]


def main() -> None:
    args = arguments()
    images = args.images.resolve()
    if (images / "train").is_dir():
        images = images / "train"  # ImageFolder has no splits
    dsconv, scratch = args.dsconv.resolve(), args.scratch.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    comparisons, figures, reports = [], [], []
    if "pack" in args.sections:
        comparisons += packing.compare(dsconv, images, scratch, args.rounds, args.small_files)
    if "read" in args.sections:
        read, reports = reading.compare(dsconv, images, scratch, args.rounds, args.workers)
        comparisons += read
    if "objects" in args.sections:
        import objects  # it needs more packages

        comparisons += objects.compare(dsconv, images, scratch, args.rounds, args.workers)
    shared = dsconv, images, scratch, args.rounds, args.workers
    for section, compare in [("pixels", compare_pixels), ("loader", compare_loaders)]:
        if parts := asked(args.sections, section):
            compared, measured = compare(args, shared, parts)
            comparisons += compared
            figures += measured
    print(f"medians of {args.rounds} rounds; ratio: dsconv's speed / the peer's speed, median of the rounds' ratios")
    print(table(comparisons))
    if figures:
        print("\n" + figures_table(figures))
    if args.json:
        result = {
            "machine": machine(),
            "rounds": args.rounds,
            "workers": args.workers,
            "comparisons": [c.to_json() for c in comparisons],
            "figures": [f.to_json() for f in figures],
            "bench_reports": reports,
        }
        args.json.write_text(json.dumps(result, indent=2) + "\n")


def asked(names: list[str], section: str) -> list[str]:
    """The parts of the section to run."""
    return [part for part in SECTIONS[section] if part in names or section in names]


def compare_pixels(args: argparse.Namespace, shared: tuple, parts: list[str]) -> tuple:
    """Imports pixels late, as it needs more packages than packing and reading."""
    import pixels
    from workbench import PixelBench, build

    if args.pixels is None:
        raise SystemExit("--pixels is missing: give the program that go build creates from lab/pixels")
    scratch = args.scratch.resolve()
    bench = PixelBench(*shared, pixels=args.pixels.resolve(), turbo=build(scratch, "turbo", "-ljpeg"))
    return pixels.compare(bench, parts)


def compare_loaders(args: argparse.Namespace, shared: tuple, parts: list[str]) -> tuple:
    import loading
    from workbench import Workbench

    return loading.compare(Workbench(*shared), parts)


def arguments() -> argparse.Namespace:
    choices = [name for section, parts in SECTIONS.items() for name in [section, *parts]]
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--dsconv", type=Path, required=True, help="the dsconv program")
    p.add_argument("--pixels", type=Path, help="the program lab/pixels, for the section of that name")
    p.add_argument("--images", type=Path, required=True, help="folder of class folders of JPEGs")
    p.add_argument("--scratch", type=Path, required=True, help="folder for all output")
    p.add_argument("--json", type=Path, help="file for the results of every round")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--workers", type=int, default=2, help="of both loaders")
    p.add_argument("--small-files", type=int, default=60_000)
    p.add_argument("--sections", nargs="+", choices=choices, default=list(SECTIONS), help="sections or parts of them")
    return p.parse_args()


def machine() -> dict:
    installed = {d.name: d.version for d in distributions()}
    return {
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.system(),
        "arch": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: installed[name] for name in PACKAGES if name in installed},
    }


if __name__ == "__main__":
    main()
