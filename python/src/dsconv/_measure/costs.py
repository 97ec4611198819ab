"""The costs of a loader and its loop, as bench/verdict reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsconv._report import WORKER_STAGES

from .clock import COLLATE, DECODE, OTHER, READ, Label
from .passes import Pass
from .slots import Measured, Times
from .surroundings import cores

# Of a dataset's own code and of decoders: a larger share of their time than this, waited while a core was free, is
# waiting for data.
WAITING = 0.1
# A part with a smaller share of the workers' time is not listed.
_LISTED = 0.0005


@dataclass
class Loop:
    """What the loop does with batches that are in memory, in microseconds per image, while nothing is loaded."""

    step: float = 0.0
    step_cpu: float = 0.0
    transfer: float = 0.0


@dataclass
class Found:
    """What was measured of a loader. `costs` makes one object of it.

    passes   as the loop uses it
    alone    without a step: the loader's own speed; None if passes have no step
    workers  what the timers found; empty if nothing was looked into
    native   dsconv's equals of transforms, by name
    threads  the workers are threads of this process
    looked   the pass in which they ran; None: in all
    stay     the workers stay from epoch to epoch
    """

    passes: Sequence[Pass]
    workers_count: int = 0
    alone: Pass | None = None
    workers: Sequence[Measured] = ()
    parts: list[dict[str, Any]] = field(default_factory=list)
    native: dict[str, str] = field(default_factory=dict)
    loop: Loop | None = None
    threads: bool = False
    looked: Pass | None = None
    stay: bool = False


def costs(found: Found) -> dict[str, Any]:
    """The JSON object `costs` of a row. Times per image are microseconds."""
    typical = sorted(found.passes, key=lambda p: p.seconds)[len(found.passes) // 2]
    alone = found.alone or (typical if found.loop is None else None)
    images = max(1, typical.images)
    listed = found.parts or parts(found.workers, found.native)
    blocked = images / 1e6 * sum(map(_blocked, listed))
    values: dict[str, Any] = {
        "samples": typical.images,
        "batch": typical.batch,
        "workers": found.workers_count,
        "processes": found.workers_count > 0 and not found.threads,
        "cores": cores(),
        "parts": listed,
        "loader_us": 1e6 * loader(found, alone),
        "start_seconds": start(found),
        "loop": found.loop is not None,
        "epoch_seconds": typical.seconds,
        "starved": typical.wait / typical.seconds if typical.seconds else 0.0,
        "swap_us": 1e6 * typical.around.swapping(blocked, found.workers_count) / images,
        "swap_in_bytes": typical.around.swapped_in,
        "other_cores": typical.around.other_cores,
    }
    if found.loop is not None:
        values["step_us"], values["step_cpu_us"] = found.loop.step, found.loop.step_cpu
        values["transfer_us"] = found.loop.transfer
    required = ("samples", "workers", "cores", "epoch_seconds")
    return {key: value for key, value in values.items() if value or key in required}


def _blocked(part: dict[str, Any]) -> float:
    """The microseconds per image in which a part neither computed nor waited for a core."""
    return max(0.0, float(part["wall_us"] - part.get("cpu_us", 0) - part.get("queue_us", 0)))


def start(found: Found) -> float:
    """Seconds from asking for an epoch until the workers begin their first batches; 0 if they stay."""
    return 0.0 if found.stay else _begun(found)


def _begun(found: Found) -> float:
    """The same of the pass that was looked into: the mean over the workers."""
    passes = [found.looked] if found.looked is not None else list(found.passes)
    delays = []
    for worker in found.workers:
        begin = worker.loads[0][0] if worker.loads else 0
        asked = max((p.began for p in passes if p.began <= begin), default=None)
        if asked is not None:
            delays.append((begin - asked - worker.header["begun"]) / 1e9)
    if delays:
        return max(0.0, sum(delays) / len(delays))
    alone = found.alone or (found.passes[0] if found.loop is None else None)
    return alone.start(found.workers_count) if alone is not None else 0.0


def loader(found: Found, alone: Pass | None) -> float:
    """Seconds per image of the loader alone, from the begin of the first batches until the last one is there. If that
    pass was looked into, the parts are of the same moments."""
    looked = found.looked if found.loop is None else None
    if looked is not None and any(w.loads for w in found.workers):
        return max(0.0, looked.last - _begun(found)) / max(1, looked.images)
    if alone is None:
        return 0.0
    measured = alone.per_image(found.workers_count)
    if found.loop is None or not measured:
        return measured
    # Another program may have been busy then: a loader is not slower than the epochs that it gave to the loop.
    return min([measured, *filter(None, (p.per_image(found.workers_count) for p in found.passes))])


def parts(workers: Sequence[Measured], native: dict[str, str]) -> list[dict[str, Any]]:
    """The parts of all workers, in the order of their discovery."""
    samples = sum(w.header["samples"] for w in workers)
    if not samples:
        return []
    times: dict[Label, Times] = {}
    for worker in workers:
        for label, spent in worker.parts.items():
            times.setdefault(label, Times()).add(spent)
    whole = sum(t.wall for t in times.values()) or 1.0
    found = []
    for label, spent in times.items():
        for part_label, part_spent in _split(label, spent, workers):
            if part_spent.wall >= _LISTED * whole:
                found.append(_part(part_label, part_spent, samples, native))
    sent = _sending(workers)
    if sent.wall >= _LISTED * whole:
        found.append(_part(Label("sending to the loop", COLLATE), sent, samples, native))
    order = ("read", "decode", "other", "augment", "collate")
    return sorted(found, key=lambda part: order.index(part["kind"]))


def stages(seconds: Mapping[str, float], images: float, cpu: float = 1.0) -> list[dict[str, Any]]:
    """The parts of a dsconv.Loader, from its stages' seconds; none if there are none. cpu is the share of
    that in which they computed."""
    each = {stage: 1e6 * seconds[stage] / max(1.0, images) for stage in WORKER_STAGES if stage in seconds}
    return [
        {"name": stage, "kind": stage, "wall_us": wall, "cpu_us": cpu * wall, "calls": int(images)}
        for stage, wall in each.items()
    ]


def _split(label: Label, spent: Times, workers: Sequence[Measured]) -> list[tuple[Label, Times]]:
    """A dataset's own code or a decoder, such as cv2.imread, without the time in which it waited while a core was free:
    then it waits for its data, from a disk or a network."""
    waited = max(0.0, spent.wall - spent.cpu - spent.queue - _other_threads(workers))
    if label.kind not in (OTHER, DECODE) or waited < WAITING * spent.wall:
        return [(label, spent)]
    computed = Times(spent.calls, spent.wall - waited, spent.cpu, spent.queue)
    return [(Label(f"{label.name} (waiting)", READ), Times(spent.calls, waited)), (label, computed)]


def _other_threads(workers: Sequence[Measured]) -> float:
    """Nanoseconds of CPU time of the workers' other threads, except for the one that sends: whoever waits may wait for
    them."""
    return sum(max(0, w.header["cpu"] - w.header["thread_cpu"] - w.header["sent_cpu"]) for w in workers)


def _sending(workers: Sequence[Measured]) -> Times:
    """What a thread of each worker does beside the loading: only its CPU time is taken from that."""
    calls, cpu = (sum(w.header[name] for w in workers) for name in ("sent_calls", "sent_cpu"))
    return Times(calls, cpu, cpu)


def _part(label: Label, spent: Times, samples: int, native: dict[str, str]) -> dict[str, Any]:
    values = {
        "name": label.name,
        "kind": label.kind,
        "wall_us": spent.wall / 1e3 / samples,
        "cpu_us": spent.cpu / 1e3 / samples,
        "queue_us": min(spent.queue, max(0.0, spent.wall - spent.cpu)) / 1e3 / samples,
        "calls": spent.calls,
        "python": True,
        "native": native.get(label.name, ""),
    }
    return {key: value for key, value in values.items() if value or key in ("name", "kind", "wall_us")}
