"""Runs loaders in turn. A turn is some epochs of one loader and returns the seconds per image."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from child import Paused, Team
from loaders import work
from packing import empty
from timing import Comparison
from workbench import Workbench

Turn = Callable[[], float]
# The size of memcpy's blocks, many times that of the caches, and the number of copies in a turn.
MEGABYTES, PASSES = 512, 4


class Turns:
    """The loaders of a part, by name. The end of the context ends their processes."""

    def __init__(self, s: Workbench, data: Path, epochs: int) -> None:
        """data is the folder of dsconv's datasets, epochs is the number in a turn."""
        self.bench, self.data, self.epochs = s, data, epochs
        self.turns: dict[str, Turn] = {}
        self.stack = ExitStack()

    def __enter__(self) -> Turns:
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.__exit__(*error)

    def ours(self, name: str, dataset: str, *options: str, workers: int | None = None) -> None:
        """Adds dsconv's loader, in a process for each turn. Its first epoch is not counted."""
        report = self.data / "report.json"
        command = [self.bench.dsconv, "bench", dataset, "--quiet", "--json", report, "--rounds", "1"]
        command += ["--epochs", str(self.epochs), "--batch", str(work.BATCH)]
        command += ["--workers", str(workers or self.bench.workers), *options]

        def turn() -> float:
            subprocess.run(command, cwd=self.data, check=True, stdout=subprocess.DEVNULL)
            (measured,) = json.loads(report.read_text())["datasets"][0]["rounds"]
            return measured["seconds"] / measured["images"]

        self.turns[name] = turn

    def python(self, name: str, dataset: str, loader: str) -> None:
        """Adds dsconv's loader from Python."""
        self.child(name, f"dsconv.{loader}", self.data / dataset)

    def peer(self, name: str, loader: str) -> None:
        """Adds another tool's loader, which packs its data again."""
        self.child(name, loader, self.bench.images)

    def child(self, name: str, loader: str, images: Path) -> None:
        scratch = self.bench.scratch / "peers" / loader
        empty(scratch)
        command = [sys.executable, Path(__file__).with_name("peer.py"), loader, images, scratch]
        child = self.stack.enter_context(Paused([*command, self.bench.workers, self.epochs]))

        def turn() -> float:
            (answer,) = child.run()
            return answer["seconds"] / answer["images"]

        self.turns[name] = turn

    def memcpy(self, name: str, threads: int, image: int) -> None:
        """Adds the system's memcpy, for images of so many bytes."""
        command = [sys.executable, Path(__file__).with_name("memcpy.py"), MEGABYTES, threads, PASSES]
        child = self.stack.enter_context(Team([command]))

        def turn() -> float:
            (answer,) = child.run()
            return answer["seconds"] * image / answer["bytes"]

        self.turns[name] = turn

    def compare(self, section: str, wanted: list[tuple[str, str, float | None]]) -> list[Comparison]:
        """Runs all loaders in turn; the first turns are not counted. wanted has two names and the minimum ratio."""
        images = sum(path.is_file() for path in self.bench.images.rglob("*"))
        comparisons = [Comparison(section, ours, theirs, ratio) for ours, theirs, ratio in wanted]
        for n in range(self.bench.rounds + 1):
            took = {name: turn() * images for name, turn in self.turns.items()}
            for c in comparisons if n > 0 else []:
                c.our_seconds.append(took[c.ours])
                c.their_seconds.append(took[c.theirs])
        return comparisons
