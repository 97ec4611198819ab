"""Rows of a report: an iterable of batches, measured in several passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dsconv._report import WORKER_STAGES, DatasetReport, Round, Stages

from .clock import OTHER, READ
from .costs import WAITING, Found, Loop, costs, parts, stages
from .look import is_dataloader
from .native import native
from .own_python import InPython
from .passes import Pass
from .slots import Measured
from .walk import walk

# Attributes of a loader that its row includes, if it has them.
SETTINGS = ("batch_size", "num_workers", "prefetch_factor", "pin_memory", "persistent_workers")


@dataclass
class Row:
    """What was measured of one subject of a bench.

    name      in the report
    iterable  the DataLoader, dsconv.Loader or any iterable of batches
    passes    one for each round
    clocks    of a dsconv.Loader: its stages' seconds, images and bytes in each pass
    alone     a pass without the loop's step, if passes have one
    looked    the pass that was looked into, with what its workers' timers found
    loop      what the loop does on batches in memory; None if there is no loop
    command   what the user would do to get this row in place of the first one; "" if that is no advice
    lossless  the same pixels reach training
    in_python what a dsconv.Loader's transforms in Python took in the pass `looked`
    added     bench added it: if it fails, a note says so
    """

    name: str
    iterable: Any
    passes: list[Pass] = field(default_factory=list)
    clocks: list[dict[str, float]] = field(default_factory=list)
    alone: Pass | None = None
    looked: Pass | None = None
    workers: Sequence[Measured] = ()
    loop: Loop | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    command: str = ""
    lossless: bool = True
    in_python: InPython | None = None
    added: bool = False

    def report(self) -> DatasetReport:
        """The row with its rounds, costs and timeline. `Report.summarise` fills in the medians."""
        dataset = DatasetReport(
            path=self.name,
            format=type(self.iterable).__name__,
            samples=max(p.images for p in self.passes),
            settings=self.settings or settings(self.iterable),
            rounds=[self._round(k, p) for k, p in enumerate(self.passes)],
        )
        dataset.costs = self.costs()
        dataset.timeline = self.timeline()
        return dataset

    def close(self) -> None:
        """Closes a dsconv.Loader; ends the workers of a DataLoader that bench made."""
        close = getattr(self.iterable, "close", None)
        if callable(close):
            close()
        elif is_dataloader(self.iterable) and self.command:
            from .rebuild import close as end  # imports torch

            end(self.iterable)

    def costs(self) -> dict[str, Any]:
        """The JSON object `costs` of the row."""
        found = Found(self.passes, workers_of(self.iterable), self.alone, self.workers, loop=self.loop)
        found.looked = self.looked if is_dataloader(self.iterable) else None
        found.stay = bool(getattr(self.iterable, "persistent_workers", False))
        if is_dataloader(self.iterable):
            found.native = native(walk(self.iterable.dataset, self.iterable.collate_fn))
        elif self.clocks:
            found.threads, found.parts = True, self._stages()
            if self.in_python is not None and self.looked is not None:
                found.parts += self.in_python.parts(self.looked.images)
                if self.in_python.seconds() > 0.5 * self.looked.seconds:
                    found.workers_count = 0  # they run in the loop's thread, and the workers wait for it
        else:
            found.parts, found.threads = self._whole(), True
            found.workers_count = int(self._loads_ahead())
        return costs(found)

    def _whole(self) -> list[dict[str, Any]]:
        """The one part of an iterable that cannot be looked into. What it does not compute, it waits for."""
        p = self.alone or self.passes[0]
        wall, cpu = 1e6 * p.per_image(0), 1e6 * p.around.cpu / max(1, p.images)
        name = f"{type(self.iterable).__name__}.__next__"
        computed = {"name": name, "kind": OTHER, "wall_us": min(wall, cpu), "cpu_us": min(wall, cpu), "python": True}
        waiting = wall - cpu if wall - cpu >= WAITING * wall else 0.0
        waited = {"name": f"{name} (waiting)", "kind": READ, "wall_us": waiting, "python": True}
        return [part for part in (waited, computed) if part["wall_us"]]

    def _loads_ahead(self) -> bool:
        """Reports whether the iterable loads while the loop works: then the loop waits less than loading takes."""
        p = self.passes[0]
        alone = self.alone.per_image(0) * p.images if self.alone is not None else 0.0
        return alone > 0.05 * p.seconds and p.wait < 0.8 * alone

    def _stages(self) -> list[dict[str, Any]]:
        """The parts of a dsconv.Loader. Its clock has wall times; CPU times are this process's, in proportion."""
        middle = sorted(range(len(self.passes)), key=lambda k: self.passes[k].seconds)[len(self.passes) // 2]
        clock, around = self.clocks[middle], self.passes[middle].around
        whole = sum(clock[s] for s in WORKER_STAGES)
        cpu = min(1.0, around.cpu / whole) if whole and self.loop is None else 1.0
        return stages(clock, clock["images"], cpu)

    def _round(self, k: int, p: Pass) -> Round:
        made = Round(
            images=p.images,
            loaded=p.images,
            seconds=p.seconds,
            wait_seconds=p.wait,
            cpu_seconds=p.around.cpu,
            transfer_seconds=p.transfer if self.loop is not None and self.loop.transfer else 0.0,
        )
        stages = self.stage_seconds(k, p)
        made.stage_seconds = Stages(**stages, step=p.step)
        if k < len(self.clocks):
            made.loaded, made.bytes = int(self.clocks[k]["images"]), int(self.clocks[k]["bytes"])
        return made

    def stage_seconds(self, k: int, p: Pass) -> dict[str, float]:
        """The stages' seconds of a pass. Those of a DataLoader are of the pass that was looked into."""
        if k < len(self.clocks):
            return {stage: self.clocks[k][stage] for stage in WORKER_STAGES}
        seconds = dict.fromkeys(WORKER_STAGES, 0.0)
        for part in parts(self.workers, {}):
            kind = "augment" if part["kind"] == OTHER else part["kind"]
            seconds[kind] += 1e-6 * part["wall_us"] * p.images
        return seconds

    def timeline(self) -> dict[str, Any] | None:
        """The JSON object `timeline` of the row; None if there was no pass."""
        p = self.looked or (self.passes[0] if self.passes else None)
        if p is None:
            return None
        timeline: dict[str, Any] = {
            "seconds": p.seconds,
            "batches": [{"asked": a, "ready": r, "done": d} for a, r, d in p.batches],
        }
        loads = [
            {
                "worker": w.worker if workers_of(self.iterable) else 0,
                "begin": (b - p.began) / 1e9,
                "end": (e - p.began) / 1e9,
            }
            for w in self.workers
            for b, e in w.loads
        ]
        if loads:
            timeline["loads"] = sorted(loads, key=lambda load: load["begin"])
        return timeline


def settings(iterable: Any) -> dict[str, Any]:
    """The settings of a loader."""
    return {k: v for k in SETTINGS if isinstance(v := getattr(iterable, k, None), (int, bool))}


def workers_of(iterable: Any) -> int:
    """The workers that load: processes of a DataLoader, threads of a dsconv.Loader; 0: the loop loads itself."""
    count = getattr(iterable, "num_workers", 0)
    return count if isinstance(count, int) else 0
