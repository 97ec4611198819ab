"""The costs of a loader and its loop, as bench/verdict reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsconv._report import WORKER_STAGES

from .clock import COLLATE, DECODE, OTHER, READ, Label, Times
from .slots import Measured

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


def blocked(part: dict[str, Any]) -> float:
    """The microseconds per image in which a part neither computed nor waited for a core."""
    return max(0.0, float(part["wall_us"] - part.get("cpu_us", 0) - part.get("queue_us", 0)))


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
                found.append(listed(part_label, part_spent, samples, native))
    sent = _sending(workers)
    if sent.wall >= _LISTED * whole:
        found.append(listed(Label("sending to the loop", COLLATE), sent, samples, native))
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


def listed(label: Label, spent: Times, samples: int, native: dict[str, str]) -> dict[str, Any]:
    """A part as the costs have it, from the times of all samples."""
    values = {
        "name": label.name,
        "kind": label.kind,
        "wall_us": spent.wall / 1e3 / samples,
        "cpu_us": min(spent.cpu, spent.wall) / 1e3 / samples,
        "queue_us": min(spent.queue, max(0.0, spent.wall - spent.cpu)) / 1e3 / samples,
        "calls": spent.calls,
        "python": True,
        "native": native.get(label.name, ""),
    }
    return {key: value for key, value in values.items() if value or key in ("name", "kind", "wall_us")}
