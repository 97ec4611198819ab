"""Several views of each image: SimCLR's two, DINO's multi-crop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments
from ._errors import ArgumentError, ArgumentTypeError
from ._short_messages import shown

if TYPE_CHECKING:
    from .transforms.plan import Plan

_LAYOUTS = {"tensor": "nchw", "tv_tensor": "nchw"}  # of other kinds it is nhwc


class Views:
    """The transforms of each view of an image, which makes a batch's images a list of tensors, one for each view.

    It is the `rest` of a Plan of which some views run in Python.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self.plans = tuple(plans)

    def __call__(self, image: Any) -> Any:
        """It is never called: each view has its own transforms."""
        raise NotImplementedError

    @property
    def words(self) -> list[str]:
        """The native ops of each view."""
        return [plan.words for plan in self.plans]

    @property
    def rests(self) -> tuple[Callable[[Any], Any], ...]:
        """The transforms that run in Python."""
        return tuple(plan.rest for plan in self.plans if plan.rest is not None)


def views_of(views: Any, transforms: Any, given: bool) -> Views | None:
    """The views that a Loader's arguments ask for; None for none. `given` says whether transforms are an argument."""
    from .transforms import translate

    if views is None:
        return None
    if isinstance(views, (str, bytes)) or not isinstance(views, (int, np.integer, Sequence)):
        raise ArgumentTypeError(f"views={shown(views)}: it must be a number or a list of transforms")
    if not isinstance(views, Sequence):
        return Views([translate(transforms)] * _arguments.whole("views", views, 1))
    if given:
        raise ArgumentError("views is a list of transforms, one for each view: leave out transforms")
    if not views:
        raise ArgumentError("views: the list is empty; give the transforms of each view")
    return Views([translate(each) for each in views])


def plan_of(views: Views) -> Plan:
    """One plan for all views."""
    plans = views.plans
    for k, plan in enumerate(plans):
        if plan.mixers:
            name = type(plan.mixers[0]).__name__
            raise ArgumentError(f"view {k + 1}: {name}: views are not mixed; leave it out, and mix them in the loop")
    python = bool(views.rests)
    from .transforms.plan import Plan

    return Plan(
        words=" | ".join(views.words),
        dtype=_common_dtype(plans, python),
        kind=_common_kind(plans, python),
        rest=views if python else None,
        named=_unique(name for plan in plans for name in plan.named),
        notes=_unique(note for plan in plans for note in plan.notes),
    )


def _common_dtype(plans: Sequence[Plan], python: bool) -> str | None:
    """The dtype in which the library makes all views."""
    found = {plan.dtype or "uint8" for plan in plans}
    if len(found) == 1:
        return plans[0].dtype
    if python and found == {"uint8", "float32"}:
        return "float32"  # which holds uint8 exactly: see native_image
    return _MIXED


_MIXED = "mixed"  # an error unless the Loader's dtype says which


def _common_kind(plans: Sequence[Plan], python: bool) -> str | None:
    kinds = {"array" if plan.kind == "array" else _LAYOUTS.get(plan.kind or "", "nhwc") for plan in plans}
    if python:
        return "tensor" if kinds == {"nchw"} else "pil"
    if "array" not in kinds:
        return plans[0].kind
    if len(kinds) > 1:
        raise ArgumentError("views: some transforms make CHW tensors, others HWC arrays: let all end in ToTensorV2")
    return "array"


def checked_dtype(plan: Plan, dtype: Any) -> Plan:
    """The plan, if the library can make all views in one dtype."""
    if plan.dtype != _MIXED:
        return plan
    if dtype is None or plan.rest is not None:
        raise ArgumentError('views: the transforms make images of different dtypes: give dtype, such as "float32"')
    return replace(plan, dtype=None)


def _unique(values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def native_image(image: np.ndarray, layout: str, plan: Plan) -> np.ndarray:
    """What the library made of a view, as it would be without the other views: in the dtype and layout of its plan."""
    if image.dtype == np.float32 and (plan.dtype or "uint8") == "uint8":
        image = np.rint(image * np.float32(255)).astype(np.uint8)
    own = image_layout(plan)
    if own == layout:
        return image
    return np.ascontiguousarray(image.transpose((2, 0, 1) if own == "nchw" else (1, 2, 0)))


def image_layout(plan: Plan) -> str:
    """The layout of a view's images that Python gets. Without transforms in Python it is that of a batch."""
    if plan.rest is None:
        return "nhwc" if plan.kind == "array" else "nchw"
    return _LAYOUTS.get(plan.kind or "", "nhwc")


def samples_of(images: Sequence[Any]) -> list[list[Any]]:
    """The views of each sample, of a batch's images of each view."""
    return [list(views) for views in zip(*images)]
