"""From transforms of any library to a Plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from . import from_albumentations, from_torchvision
from .base import is_ours
from .compose import Compose
from .mixing import MixUp, mixers_of
from .native import Native
from .not_native import NotNative
from .plan import Plan
from .steps import Step, chain, compose


def translate(transforms: Any) -> Plan:
    """How to carry out transforms: what natively, what in Python.

    transforms is None; a string of words ("rrc:224,flip,normalize"); a transform, or a list of them, of
    dsconv.transforms, torchvision.transforms or its v2, or Albumentations; or any callable that takes a
    PIL image. From the first on that has no native equal all are run in Python. Native is what draws
    from the same distributions and gives the same pixels; of colours, and of resized tensors, some may
    be one level off.

    ValueError for an order that cannot be carried out at all.
    """
    if transforms is None:
        return Plan()
    if isinstance(transforms, str):
        return _of_words(transforms)
    if from_albumentations.is_compose(transforms):
        return planned(from_albumentations.steps(transforms), Native("array"))
    return planned(list(flatten(transforms)), Native("pil"))


def planned(steps: Sequence[Step], native: Native) -> Plan:
    """A plan of steps, on an image of native's kind."""
    for i, step in enumerate(steps):
        try:
            native.add(step, steps[i + 1 :])
        except NotNative as e:
            if step.library == "dsconv":  # in a Compose it would be translated again, for ever
                step = replace(step, join=None)
            return _plan(native, [step, *steps[i + 1 :]], str(e))
    return _plan(native, [], "")


def _of_words(words: str) -> Plan:
    """Words are taken as they are; what can only be done to floats says that there are floats."""
    floats = any(w.strip().partition(":")[0] in ("normalize", "mixup") for w in words.split(","))
    return Plan(words, "float32", "tensor") if floats else Plan(words, kind="pil")


def _plan(native: Native, rest: Sequence[Step], why: str) -> Plan:
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
                f"{step.name} has MixUp or CutMix inside, which mix whole batches: give them, or RandomChoice of "
                f"them, as the last of the transforms"
            )
    return Plan(
        words=native.words(),
        dtype=native.dtype_said(),
        kind=native.kind,
        rest=chain(single),
        mixers=mixers,
        named=tuple(s.name for s in rest),
        notes=(f"{rest[0].name}: {why}",) if why else (),
    )


def _must_be_last(name: str, mixer: str) -> str:
    return f"{name} comes after {mixer}, which mixes whole batches: mixing must come last"


def _mixes(t: Any) -> bool:
    """Whether something inside of t mixes whole batches."""
    if isinstance(t, MixUp) or from_torchvision.is_mixer(t):
        return True
    inner = getattr(t, "transforms", None)
    return isinstance(inner, (list, tuple)) and any(_mixes(i) for i in inner)


def flatten(t: Any) -> Iterator[Step]:
    """The transforms inside of t, in order."""
    ours = is_ours(t)
    if isinstance(t, (list, tuple)) or ours and isinstance(t, Compose):
        for inner in t.transforms if ours else t:
            yield from flatten(inner)
    elif ours:
        yield Step(t, t, library="dsconv", join=compose)
    elif from_torchvision.is_container(t):
        for inner in from_torchvision.inside(t):
            yield from flatten(inner)
    elif callable(t):
        yield from from_torchvision.steps(t)
    else:
        raise TypeError(f"transforms: {type(t).__name__} is not a transform: it cannot be called with an image")
