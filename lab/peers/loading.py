"""The parts of the section `loader`: dsconv's loader compared with those of other tools."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import memory
from loaders.work import JITTER, LONGER, SIZE
from timing import Comparison, Figure
from turns import Turns
from workbench import Workbench

FOLDER = "images"
PLAIN, TILED, RAW, RAW_LMDB, WHOLE, WHOLE_LMDB = (
    *("plain.lmdb", "tiled.lmdb", "raw.h5", "raw.lmdb"),
    *("whole.h5", "whole.lmdb"),
)
# The packed datasets and their options.
RAW_OPTIONS = ["--resize", f"longer:{LONGER}", "--encode", "raw"]
WHOLE_OPTIONS = ["--resize", f"cover:{SIZE}x{SIZE}", "--encode", "raw"]
DATASETS = {
    PLAIN: [],
    TILED: ["--encode", "jpeg-tiled"],
    RAW: RAW_OPTIONS,
    RAW_LMDB: RAW_OPTIONS,
    WHOLE: WHOLE_OPTIONS,
    WHOLE_LMDB: WHOLE_OPTIONS,
}
FLOAT = "--augment", f"rrc:{SIZE},flip,normalize"
UINT8 = "--augment", f"rrc:{SIZE},flip", "--dtype", "uint8"
COLOUR = "--augment", f"rrc:{SIZE},flip,jitter:{':'.join(map(str, JITTER))},normalize"
# A resize to its own size does not change an image.
PASSED = "--augment", f"resize:{SIZE}x{SIZE}", "--dtype", "uint8", "--layout", "nhwc"
NHWC = "--layout", "nhwc"
# The speed of two workers compared with one, on two cores.
SCALING = 1.6


def raw(s: Workbench, data: Path) -> list[Comparison]:
    """Small images stored as pixels, in FFCV's layout."""
    wanted = []
    with Turns(s, data, epochs=10) as t:
        for kind, options, peer, ratio in [
            ("uint8", UINT8, "ffcv.raw_uint8", 1.5),
            ("float32", FLOAT, "ffcv.raw", 2.0),
        ]:
            t.peer(f"FFCV, raw, {kind}", peer)
            for dataset in [RAW, RAW_LMDB]:
                t.ours(f"{dataset}, {kind}", dataset, *options, *NHWC)
                wanted.append((f"{dataset}, {kind}", f"FFCV, raw, {kind}", ratio))
        return t.compare("raw", wanted)


def jpeg(s: Workbench, data: Path) -> list[Comparison]:
    """The original JPEGs; TILED is packed as jpeg-tiled."""
    with Turns(s, data, epochs=2) as t:
        for dataset in [TILED, PLAIN, FOLDER]:
            t.ours(dataset, dataset, *FLOAT)
        t.peer("FFCV", "ffcv.jpeg")
        t.peer("DALI, CPU", "dali.folder")
        t.peer("WebDataset", "webdataset.shards")
        t.peer("MosaicML Streaming", "mosaicml.shards")
        t.peer("LitData", "litdata.chunks")
        t.peer("ImageFolder, DataLoader", "pytorch.image_folder")
        t.peer("torchvision v2, tensors", "pytorch.tensors")
        wanted = [
            (TILED, "FFCV", 2.0),
            (TILED, "DALI, CPU", 2.0),
            (TILED, "WebDataset", 2.0),
            (TILED, "MosaicML Streaming", 2.0),
            (TILED, "LitData", 2.0),
            (TILED, "ImageFolder, DataLoader", 3.0),
            (PLAIN, "FFCV", 1.25),
            (FOLDER, "ImageFolder, DataLoader", 2.0),
            (FOLDER, "torchvision v2, tensors", None),
        ]
        return t.compare("jpeg", wanted)


def python_jpeg(s: Workbench, data: Path) -> list[Comparison]:
    """The Python package compared with the Go loader on the same datasets, and with all other tools."""
    wanted = []
    with Turns(s, data, epochs=2) as t:
        for dataset in [TILED, PLAIN, FOLDER]:
            t.ours(dataset, dataset, *FLOAT)
            t.python(f"{dataset}, Python", dataset, "floats")
            wanted.append((f"{dataset}, Python", dataset, 0.95))
        for name, loader, ratio in [
            ("FFCV", "ffcv.jpeg", 2.0),
            ("DALI, CPU", "dali.folder", 2.0),
            ("WebDataset", "webdataset.shards", 2.0),
            ("MosaicML Streaming", "mosaicml.shards", 2.0),
            ("LitData", "litdata.chunks", 2.0),
            ("ImageFolder, DataLoader", "pytorch.image_folder", 3.0),
            ("torchvision v2, tensors", "pytorch.tensors", 2.0),
        ]:
            t.peer(name, loader)
            wanted.append((f"{TILED}, Python", name, ratio))
        return t.compare("python, jpeg", wanted)


def python_raw(s: Workbench, data: Path) -> list[Comparison]:
    """As python_jpeg, on small images stored as pixels."""
    wanted = []
    with Turns(s, data, epochs=10) as t:
        for kind, options, loader, peer, ratio in [
            ("uint8", UINT8, "uint8_last", "ffcv.raw_uint8", 1.5),
            ("float32", FLOAT, "floats_last", "ffcv.raw", 2.0),
        ]:
            t.peer(f"FFCV, raw, {kind}", peer)
            for dataset in [RAW, RAW_LMDB]:
                t.ours(f"{dataset}, {kind}", dataset, *options, *NHWC)
                t.python(f"{dataset}, {kind}, Python", dataset, loader)
                wanted.append((f"{dataset}, {kind}, Python", f"{dataset}, {kind}", 0.95))
                wanted.append((f"{dataset}, {kind}, Python", f"FFCV, raw, {kind}", ratio))
        return t.compare("python, raw", wanted)


def colour(s: Workbench, data: Path) -> list[Comparison]:
    """The tutorial's pipeline, with ColorJitter."""
    with Turns(s, data, epochs=2) as t:
        for dataset in [TILED, FOLDER, RAW]:
            t.ours(dataset, dataset, *COLOUR)
        t.peer("Albumentations, folder", "albumentations.folder")
        t.peer("Albumentations, raw", "albumentations.raw")
        wanted = [
            (TILED, "Albumentations, folder", 2.0),
            (FOLDER, "Albumentations, folder", None),
            (RAW, "Albumentations, raw", 2.0),
        ]
        return t.compare("colour", wanted)


def whole(s: Workbench, data: Path) -> list[Comparison]:
    """Unchanged images, compared with memcpy in equally many threads."""
    wanted = []
    with Turns(s, data, epochs=20) as t:
        for n in range(1, s.workers + 1):
            t.memcpy(f"memcpy, {n} threads", n, SIZE * SIZE * 3)
            for dataset in [WHOLE, WHOLE_LMDB]:
                t.ours(f"{dataset}, {n} workers", dataset, *PASSED, workers=n)
                wanted.append((f"{dataset}, {n} workers", f"memcpy, {n} threads", 0.5))
        return t.compare("whole", wanted)


def scaling(s: Workbench, data: Path) -> list[Comparison]:
    """All workers compared with one."""
    wanted = []
    with Turns(s, data, epochs=4) as t:
        for dataset in [RAW, TILED, FOLDER]:
            for n in [1, s.workers]:
                t.ours(f"{dataset}, {n} workers", dataset, *FLOAT, workers=n)
            wanted.append((f"{dataset}, {s.workers} workers", f"{dataset}, 1 workers", SCALING))
        return t.compare("scaling", wanted)


def growth(s: Workbench, data: Path) -> list[Figure]:
    return [figure for dataset in [RAW, TILED, FOLDER] for figure in memory.growth(s, data, dataset, *FLOAT)]


PARTS: dict[str, Callable[[Workbench, Path], list]] = {
    "raw": raw,
    "jpeg": jpeg,
    "python-jpeg": python_jpeg,
    "python-raw": python_raw,
    "colour": colour,
    "whole": whole,
    "scaling": scaling,
    "memory": growth,
}


def compare(s: Workbench, parts: list[str]) -> tuple[list[Comparison], list[Figure]]:
    data = pack(s)
    results = [row for name, part in PARTS.items() if name in parts for row in part(s, data)]
    comparisons = [row for row in results if isinstance(row, Comparison)]
    return comparisons, [row for row in results if isinstance(row, Figure)]


def pack(s: Workbench) -> Path:
    """Packs the datasets into a folder, and adds a link to the images."""
    data = s.scratch / "loader"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    (data / FOLDER).symlink_to(s.images)
    for name, options in DATASETS.items():
        s.pack(s.images, data / name, *options)
    return data
