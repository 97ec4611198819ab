"""Packing unchanged images: dsconv compared with tar and Python's lmdb."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image
from timing import Comparison, interleave

SMALL_CLASSES = 100


def compare(dsconv: Path, images: Path, scratch: Path, rounds: int, small_files: int) -> list[Comparison]:
    out = scratch / "packed"
    small = make_small_files(scratch / "small-files", small_files)

    def beside(name: str, peer: str, wanted: float, source: Path, target: str, theirs: Callable) -> Comparison:
        warm(source)
        c = Comparison("pack", name, peer, wanted)
        ours = partial(pack, dsconv, source, out / target)
        return interleave(c, rounds, partial(empty, out), ours, partial(theirs, source, out))

    comparisons = [
        beside("images into shards", "tar cf, sync", 0.5, images, "shards-%06d.tar", tar),
        beside("images into LMDB", "Python's lmdb", 1.0, images, "ours.lmdb", python_lmdb),
        beside(f"{small_files} small files into shards", "tar cf, sync", 1 / 3, small, "small-%06d.tar", tar),
    ]
    shutil.rmtree(out)
    return comparisons


def pack(dsconv: Path, source: Path, target: Path) -> None:
    subprocess.run([dsconv, "pack", source, target, "--quiet"], check=True)


def tar(source: Path, out: Path) -> None:
    target = out / "peer.tar"
    subprocess.run(["tar", "cf", target, "-C", source, "."], check=True)
    subprocess.run(["sync", target], check=True)


def python_lmdb(source: Path, out: Path) -> None:
    """Runs in a separate process that imports only lmdb, as dsconv's time is also that of a process."""
    script = Path(__file__).with_name("lmdb_writer.py")
    subprocess.run([sys.executable, script, source, out / "peer.lmdb"], check=True)


def empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def image_files(folder: Path) -> list[Path]:
    return [Path(top) / name for top, _, names in os.walk(folder) for name in names]


def warm(folder: Path) -> None:
    """Reads all files into the page cache."""
    for path in image_files(folder):
        path.read_bytes()


def make_small_files(folder: Path, count: int) -> Path:
    """Writes JPEGs of about 2 kB into class folders, unless an earlier run has done it."""
    done = folder / f"{count}.done"
    root = folder / "images"
    if done.exists():
        return root
    shutil.rmtree(folder, ignore_errors=True)
    for c in range(SMALL_CLASSES):
        (root / f"class{c:03d}").mkdir(parents=True)
    rng = np.random.default_rng(1)
    for i in range(count):
        path = root / f"class{i % SMALL_CLASSES:03d}" / f"{i:06d}.jpg"
        path.write_bytes(small_jpeg(rng))
    done.touch()
    return root


def small_jpeg(rng: np.random.Generator) -> bytes:
    buffer = io.BytesIO()
    pixels = rng.integers(0, 256, (20, 20, 3), dtype=np.uint8)
    Image.fromarray(pixels).resize((64, 64), Image.Resampling.BICUBIC).save(buffer, "JPEG", quality=80)
    return buffer.getvalue()
