"""Reports whether transforms draw random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._thread_transforms import DRAW_NOTHING
from .transforms.steps import Chain

if TYPE_CHECKING:
    from .transforms.plan import Plan

# Native ops that draw nothing, with any parameters.
_FIXED = {"", "eval", "resize", "centercrop", "normalize"}


def draws(plan: Plan) -> bool:
    """Reports whether transforms may draw: false for those known not to, such as an evaluation's."""
    if plan.mixers or any(op.partition(":")[0] not in _FIXED for op in plan.words.split(",")):
        return True
    calls = plan.rest.calls if isinstance(plan.rest, Chain) else (plan.rest,)
    return any(call is not None and type(call).__name__ not in DRAW_NOTHING for call in calls)
