"""The settings that the comparisons share: the programs, the images and the number of rounds."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packing import empty
from timing import Comparison, interleave


@dataclass
class Workbench:
    dsconv: Path  # the program
    images: Path
    scratch: Path
    rounds: int
    workers: int

    def pack(self, source: Path, target: Path, *options: str) -> None:
        command = [self.dsconv, "pack", source, target, "--quiet", "--workers", str(self.workers), *options]
        subprocess.run(command, check=True)


@dataclass
class PixelBench(Workbench):
    pixels: Path  # the programs
    turbo: Path

    def files(self) -> list[Path]:
        return sorted(path for path in self.images.rglob("*") if path.is_file())

    def interleave(self, c: Comparison, ours: Callable[[], object], theirs: Callable[[], object]) -> Comparison:
        """Runs ours and theirs in turn; ours may write to packed."""
        return interleave(c, self.rounds, partial(empty, self.packed()), ours, theirs)

    def packed(self) -> Path:
        return self.scratch / "packed"


def build(scratch: Path, name: str, *options: str) -> Path:
    """Compiles the C program of that name."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise SystemExit(f"no C compiler for {name}.c: install gcc")
    program = scratch / name
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([compiler, "-O3", "-o", program, source, *options], check=True)
    return program
