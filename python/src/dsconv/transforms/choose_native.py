"""Chooses which transforms of a list run natively and which run in Python, for transforms of any library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from . import from_torchvision
from .base import is_ours
from .mixing import MixUp, mixers_of
from .native_ops import NativeOps
from .nesting import Container
from .not_native import NotNative
from .plan import Plan
from .steps import Join, Step, chain


def list_steps(t: Any, join: Join) -> Iterator[Step]:
    """The transforms in t, in order. Containers are replaced by their content; join joins transforms of ours."""
    ours = is_ours(t)
    if isinstance(t, (list, tuple)) or ours and isinstance(t, Container):
        for inner in t.transforms if isinstance(t, Container) else t:
            yield from list_steps(inner, join)
    elif ours:
        yield Step(t, t, library="dsconv", join=join)
    elif from_torchvision.is_container(t):
        for inner in from_torchvision.inside(t):
            yield from list_steps(inner, join)
    elif callable(t):
        yield from from_torchvision.steps(t, lambda inner: list_steps(inner, join))
    else:
        raise TypeError(f"transforms: {type(t).__name__} is not a transform: it cannot be called with an image")


def choose_native(steps: Sequence[Step], native: NativeOps) -> Plan:
    """A plan for the steps: native ops up to the first step that has none, then Python."""
    mixers = [mixer for step in steps for mixer in mixers_of(step.op)]
    classes = tuple(mixer.num_classes for mixer in mixers if mixer.num_classes is not None)
    for i, step in enumerate(steps):
        try:
            native.add(step, steps[i + 1 :])
        except NotNative as e:
            if step.library == "dsconv":  # a Compose of it would be translated again, without end
                step = replace(step, join=None)
            return replace(_plan(native, [step, *steps[i + 1 :]], str(e)), classes=classes)
    return replace(_plan(native, [], ""), classes=classes)


def _plan(native: NativeOps, rest: Sequence[Step], why: str) -> Plan:
    if rest and native.mixers:
        raise ValueError(_must_be_last(rest[0].name, native.mixers[0]))
    last = rest[-1].op if rest else None
    mixers = mixers_of(last)
    single = rest[:-1] if mixers else rest
    for i, step in enumerate(single):
        if mixers_of(step.op):
            raise ValueError(_must_be_last(rest[i + 1].name, step.name))
        if _mixes(step.call):
            raise ValueError(
                f"{step.name} contains MixUp or CutMix, which mix whole batches: give them, or RandomChoice of them, "
                "as the last of the transforms"
            )
    return Plan(
        words=native.words(),
        dtype=native.dtype if native.converted else None,
        kind=native.kind,
        rest=chain(single),
        mixers=mixers,
        named=tuple(s.name for s in rest),
        notes=(f"{rest[0].name}: {why}",) if why else (),
    )


def _must_be_last(name: str, mixer: str) -> str:
    return f"{name} comes after {mixer}, which mixes whole batches: mixing must come last"


def _mixes(t: Any) -> bool:
    """Reports whether t is or contains a transform that mixes whole batches."""
    if isinstance(t, MixUp) or from_torchvision.is_mixer(t):
        return True
    inner = getattr(t, "transforms", None)
    return isinstance(inner, (list, tuple)) and any(_mixes(i) for i in inner)
