"""The repr of a Loader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dataset_figures import WORD
from ._short_messages import counted

if TYPE_CHECKING:
    from ._samplers import GivenOrder
    from ._source import Source
    from .loader import Loader
    from .transforms.plan import Plan

_LONGEST = 100  # characters of a list of transforms


def described(loader: Loader[Any], source: Source, plan: Plan, given: GivenOrder | None) -> str:
    """A Loader in a few lines: what it loads, in which order, how."""
    split = "" if loader.split is None else f", split={loader.split!r}"
    samples, classes = counted(source.samples, "sample"), counted(len(source.classes), "class", "classes")
    lines = [
        f"Loader({loader.path!r}{split}): {samples}, {classes}",
        f"{_batches(loader)}, {_order(source, given)}, seed {loader.seed}",
        f"transforms: {_transforms(plan, source)}",
        _threads(loader),
    ]
    return "\n  ".join(lines)


def _batches(loader: Loader[Any]) -> str:
    try:
        count = counted(len(loader), "batch", "batches")
    except TypeError:  # a sampler without a length
        count = "batches"
    return count if loader.batch_size is None else f"{count} of {loader.batch_size}"


def _order(source: Source, given: GivenOrder | None) -> str:
    if given is not None:
        kind = "sampler" if given.batch_sampler is None else "batch_sampler"
        return f"order of the {kind} ({type(getattr(given, kind)).__name__})"
    order: str = source.configuration["order"]
    return {"none": "in key order", "full": "shuffled"}.get(order, f"order {order}")


def _transforms(plan: Plan, source: Source) -> str:
    words = plan.words
    if WORD in words:  # the library has the figures
        words = source.configured.get("augment") or words
    parts = [f"native {words}"] if words else []
    if plan.named:
        parts.append(f"in Python {', '.join(plan.named)}")
    text = "; ".join(parts) or "none"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _threads(loader: Loader[Any]) -> str:
    text = counted(loader.num_workers, "thread") if loader.num_workers else "in the loop's thread"
    if loader.world_size > 1:
        text += f", rank {loader.rank} of {loader.world_size}"
    return text if loader.device is None else f"{text}, on {loader.device}"
