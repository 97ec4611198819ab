"""Loader(normalize="dataset"): images are normalised by the statistics that the dataset was packed with."""

from __future__ import annotations

import dataclasses
from typing import Any

from ._errors import ArgumentError
from .transforms.plan import Plan

WORD = "normalize:dataset"
_AFTER = {"erase", "mixup", "cutmix"}  # ops that follow a normalisation


def with_figures(plan: Plan, views: Any) -> Plan:
    """The plan with a normalisation by the dataset's figures: after its other native ops, before those that follow
    one. Raises ArgumentError if that cannot be."""
    if views is not None:
        raise ArgumentError(f'normalize="dataset": write "{WORD}" in the transforms of each of the views')
    if plan.rest is not None:
        raise ArgumentError(
            f'normalize="dataset": transforms that run in Python ({", ".join(plan.named)}) come after the native ones'
        )
    words = plan.words.split(",") if plan.words else []
    kinds = [word.strip().partition(":")[0] for word in words]
    if "normalize" in kinds:
        raise ArgumentError('normalize="dataset": the transforms normalise already: leave out one of them')
    at = next((i for i, kind in enumerate(kinds) if kind in _AFTER), len(words))
    words.insert(at, WORD)
    kind = plan.kind if plan.kind in ("tensor", "tv_tensor", "array") else "tensor"
    return dataclasses.replace(plan, words=",".join(words), dtype=plan.dtype or "float32", kind=kind)
