"""Rows of a report, an iterable of batches measured in several passes, with their costs as bench/verdict reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsconv._report import WORKER_STAGES, DatasetReport, Round, Stages

from .clock import AUGMENT, COLLATE, DECODE, OTHER, READ, Part
from .look import ON_THREADS, Measured, is_dataloader
from .native import native
from .passes import Pass
from .surroundings import cores
from .walk import walk

# The settings of a DataLoader that tune can change, in the order in which they are shown.
SETTINGS = ("num_workers", "prefetch_factor", "pin_memory", "persistent_workers")
# Of a dataset's own code and of decoders: a larger share of their time than this, waited while a core was free, is
# waiting for data.
_WAITING = 0.1
# A part with a smaller share of the workers' time is not listed.
_LISTED = 0.0005
_ORDER = (READ, DECODE, OTHER, AUGMENT, COLLATE)


@dataclass
class Loop:
    """What the loop does with batches that are in memory, in microseconds per image, while nothing is loaded."""

    step: float = 0.0
    step_cpu: float = 0.0
    transfer: float = 0.0


@dataclass
class Row:
    """What was measured of one subject of a bench.

    name      in the report
    iterable  the DataLoader, dsconv.Loader or any iterable of batches
    passes    one for each round, as the loop uses it
    clocks    of a dsconv.Loader: its stages' seconds, images and bytes in each pass
    alone     a pass without the loop's step: the loader's own speed; None if passes have no step
    looked    the pass that was looked into, with what its workers' timers found; None: in all
    loop      what the loop does on batches in memory; None if there is no loop
    command   what the user would do to get this row in place of the first one; "" if that is no advice
    lossless  the same pixels reach training
    in_python what a dsconv.Loader's transforms in Python took in the pass `looked`, by their names
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
    settings: dict[str, Any] = field(init=False)
    notes: list[str] = field(default_factory=list)
    command: str = ""
    lossless: bool = True
    in_python: dict[str, Part] = field(default_factory=dict)
    added: bool = False

    def __post_init__(self) -> None:
        values = {name: getattr(self.iterable, name, None) for name in ("batch_size", *SETTINGS)}
        self.settings = {name: value for name, value in values.items() if isinstance(value, (int, bool))}

    def report(self, with_costs: bool = True) -> DatasetReport:
        """The row with its rounds, costs and timeline. `Report.summarise` fills in the medians."""
        return DatasetReport(
            path=self.name,
            format=type(self.iterable).__name__,
            samples=max(p.images for p in self.passes),
            settings=self.settings,
            rounds=[self._round(k, p) for k, p in enumerate(self.passes)],
            costs=self.costs() if with_costs else None,
            timeline=self._timeline(),
        )

    def close(self) -> None:
        """Closes a dsconv.Loader; ends the workers of a DataLoader that bench made."""
        close = getattr(self.iterable, "close", None)
        if callable(close):
            close()
        elif self.command:
            self.iterable._iterator = None

    def costs(self) -> dict[str, Any]:
        """The JSON object `costs` of the row, as bench/verdict reads it."""
        workers = getattr(self.iterable, "num_workers", 0)  # processes of a DataLoader, threads of a dsconv.Loader
        count = workers if isinstance(workers, int) else 0
        if is_dataloader(self.iterable):
            words = native(walk(self.iterable.dataset, self.iterable.collate_fn))
            return self.costs_of(parts(self.workers, words), count, processes=True)
        if not self.clocks:
            return self.costs_of(self._whole(), int(self._loads_ahead()))
        # A dsconv.Loader's clock has wall times; CPU times are this process's, in proportion.
        typical = self._typical()
        clock = self.clocks[self.passes.index(typical)]
        whole = sum(clock[s] for s in WORKER_STAGES)
        cpu = min(1.0, typical.around.cpu / whole) if whole and self.loop is None else 1.0
        found = stages(clock, clock["images"], cpu)
        if self.looked is not None:
            found += [_listed(part, max(1, self.looked.images)) for part in self.in_python.values()]
            if sum(p.wall for p in self.in_python.values() if p.name != ON_THREADS) > 0.5e9 * self.looked.seconds:
                count = 0  # they run in the loop's thread, and the workers wait for it
        return self.costs_of(found, count)

    def costs_of(self, parts: list[dict[str, Any]], workers: int, processes: bool = False) -> dict[str, Any]:
        """The costs of a loader with these parts and workers. Times per image are microseconds."""
        typical = self._typical()
        around, loop = typical.around, self.loop or Loop()
        blocked = sum(max(0.0, p["wall_us"] - p.get("cpu_us", 0) - p.get("queue_us", 0)) for p in parts)
        values: dict[str, Any] = {
            "samples": typical.images,
            "batch": typical.batch,
            "workers": workers,
            "processes": workers > 0 and processes,
            "cores": cores(),
            "parts": parts,
            "loader_us": 1e6 * self.per_image(workers),
            "start_seconds": 0.0 if getattr(self.iterable, "persistent_workers", False) else self._begun(workers),
            "loop": self.loop is not None,
            "epoch_seconds": typical.seconds,
            "starved": typical.wait / typical.seconds if typical.seconds else 0.0,
            "swap_us": around.swapping(blocked),
            "swap_in_bytes": around.swapped_in,
            "other_cores": around.other_cores,
            "step_us": loop.step,
            "step_cpu_us": loop.step_cpu,
            "transfer_us": loop.transfer,
        }
        required = ("samples", "workers", "cores", "epoch_seconds")
        return {key: value for key, value in values.items() if value or key in required}

    def _typical(self) -> Pass:
        return sorted(self.passes, key=lambda p: p.seconds)[len(self.passes) // 2]

    def per_image(self, workers: int) -> float:
        """Seconds per image of the loader alone, from the begin of the first batches until the last one is there. If
        that pass was looked into, the parts are of the same moments."""
        if self.loop is None and self.looked is not None and any(w.loads for w in self.workers):
            return max(0.0, self.looked.last - self._begun(workers)) / max(1, self.looked.images)
        alone = self.alone or (self._typical() if self.loop is None else None)
        measured = alone.per_image(workers) if alone is not None else 0.0
        if self.loop is None or not measured:
            return measured
        # Another program may have been busy then: a loader is not slower than the epochs that it gave to the loop.
        return min([measured, *filter(None, (p.per_image(workers) for p in self.passes))])

    def _begun(self, workers: int) -> float:
        """Seconds from asking for an epoch until the workers begin their first batches: the mean over the workers."""
        passes = [self.looked] if self.looked is not None else self.passes
        delays = []
        for worker in self.workers:
            begin = worker.loads[0][0] if worker.loads else 0
            asked = max((p.began for p in passes if p.began <= begin), default=None)
            if asked is not None:
                delays.append((begin - asked - worker.begun) / 1e9)
        if delays:
            return max(0.0, sum(delays) / len(delays))
        alone = self.alone or (self.passes[0] if self.loop is None else None)
        return alone.start(workers) if alone is not None else 0.0

    def _whole(self) -> list[dict[str, Any]]:
        """The one part of an iterable that cannot be looked into. What it does not compute, it waits for."""
        p = self.alone or self.passes[0]
        wall = 1e9 * p.per_image(0) * p.images
        part = Part(f"{type(self.iterable).__name__}.__next__", OTHER, 0, wall, min(wall, 1e9 * p.around.cpu))
        return [_listed(each, max(1, p.images)) for each in _split(part) if each.wall]

    def _loads_ahead(self) -> bool:
        """Reports whether the iterable loads while the loop works: then the loop waits less than loading takes."""
        p = self.passes[0]
        alone = self.alone.per_image(0) * p.images if self.alone is not None else 0.0
        return alone > 0.05 * p.seconds and p.wait < 0.8 * alone

    def _round(self, k: int, p: Pass) -> Round:
        """A DataLoader's stages are those of the pass that was looked into."""
        seconds, loaded, stored = dict.fromkeys(WORKER_STAGES, 0.0), p.images, 0
        if k < len(self.clocks):
            clock = self.clocks[k]
            seconds = {stage: clock[stage] for stage in WORKER_STAGES}
            loaded, stored = int(clock["images"]), int(clock["bytes"])
        for part in parts(self.workers):
            kind = AUGMENT if part["kind"] == OTHER else part["kind"]
            seconds[kind] += 1e-6 * part["wall_us"] * p.images
        return Round(
            images=p.images,
            loaded=loaded,
            bytes=stored,
            seconds=p.seconds,
            wait_seconds=p.wait,
            cpu_seconds=p.around.cpu,
            transfer_seconds=p.transfer if self.loop is not None and self.loop.transfer else 0.0,
            stage_seconds=Stages(**seconds, step=p.step),
        )

    def _timeline(self) -> dict[str, Any]:
        """The JSON object `timeline` of the row."""
        p = self.looked or self.passes[0]
        timeline: dict[str, Any] = {
            "seconds": p.seconds,
            "batches": [{"asked": a, "ready": r, "done": d} for a, r, d in p.batches],
        }
        loads = sorted((b - p.began, e - p.began, w.worker) for w in self.workers for b, e in w.loads)
        if loads:
            timeline["loads"] = [{"worker": worker, "begin": b / 1e9, "end": e / 1e9} for b, e, worker in loads]
        return timeline


def parts(workers: Sequence[Measured], words: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """The parts of all workers, in the order of their use. words are dsconv's equals of transforms, by name."""
    merged: dict[tuple[str, str], Part] = {}
    for part in (part for worker in workers for part in worker.parts):
        merged.setdefault((part.name, part.kind), Part(part.name, part.kind)).add(part)
    samples, whole = sum(w.samples for w in workers), sum(part.wall for part in merged.values())
    others = sum(w.other_cpu for w in workers)
    found = [each for part in merged.values() for each in _split(part, others) if each.wall > _LISTED * whole]
    found.sort(key=lambda part: _ORDER.index(part.kind))
    return [_listed(part, samples, words) for part in found if samples]


def stages(seconds: Mapping[str, float], images: float, cpu: float = 1.0) -> list[dict[str, Any]]:
    """The parts of a dsconv.Loader, from its stages' seconds; none if there are none. cpu is the share of
    that in which they computed."""
    each = {stage: 1e6 * seconds[stage] / max(1.0, images) for stage in WORKER_STAGES if stage in seconds}
    return [
        {"name": stage, "kind": stage, "wall_us": wall, "cpu_us": cpu * wall, "calls": int(images)}
        for stage, wall in each.items()
    ]


def _split(part: Part, other_threads: float = 0) -> list[Part]:
    """A dataset's own code or a decoder, such as cv2.imread, without the time in which it waited while a core was free:
    then it waits for its data, from a disk or a network. It may also wait for other threads, which took that long."""
    waited = max(0.0, part.wall - part.cpu - part.queue - other_threads)
    if part.kind not in (OTHER, DECODE) or waited < _WAITING * part.wall:
        return [part]
    waiting = Part(f"{part.name} (waiting)", READ, part.calls, waited)
    return [waiting, Part(part.name, part.kind, part.calls, part.wall - waited, part.cpu, part.queue)]


def _listed(part: Part, samples: int, words: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A part as the costs have it, from the times of all samples."""
    values = {
        "name": part.name,
        "kind": part.kind,
        "wall_us": part.wall / 1e3 / samples,
        "cpu_us": min(part.cpu, part.wall) / 1e3 / samples,
        "queue_us": min(part.queue, max(0.0, part.wall - part.cpu)) / 1e3 / samples,
        "calls": part.calls,
        "python": True,
        "native": (words or {}).get(part.name, ""),
    }
    return {key: value for key, value in values.items() if value or key in ("name", "kind", "wall_us")}
