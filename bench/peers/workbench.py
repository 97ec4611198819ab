"""What the comparisons of pixels share: the programs, the images and how often they are run."""

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
    dsconv: Path  # the programs
    pixels: Path
    turbo: Path
    images: Path
    scratch: Path
    rounds: int
    workers: int

    def files(self) -> list[Path]:
        return sorted(path for path in self.images.rglob("*") if path.is_file())

    def pack(self, source: Path, target: Path, *options: str) -> None:
        command = [self.dsconv, "pack", source, target, "--quiet", "--workers", str(self.workers), *options]
        subprocess.run(command, check=True)

    def interleave(self, c: Comparison, ours: Callable[[], object], theirs: Callable[[], object]) -> Comparison:
        """Each in turn; ours may write to packed."""
        return interleave(c, self.rounds, partial(empty, self.packed()), ours, theirs)

    def packed(self) -> Path:
        return self.scratch / "packed"


def build_turbo(scratch: Path) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise SystemExit("no C compiler for turbo.c: install gcc, libjpeg-dev")
    program = scratch / "turbo"
    source = Path(__file__).with_name("turbo.c")
    subprocess.run([compiler, "-O3", "-o", program, source, "-ljpeg"], check=True)
    return program
