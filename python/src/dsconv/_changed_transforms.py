"""Notices transforms that were changed after a Loader was made of them: it would go on with the old ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import ArgumentError
from ._thread_transforms import count_for_threads

if TYPE_CHECKING:
    from ._selection import Selection

_ATTRIBUTES = ("transform", "target_transform", "transforms")


class GivenTransforms:
    """The transforms that a Loader was given, and the Datasets whose transforms it may have taken."""

    def __init__(self, selection: Selection, transforms: Any) -> None:
        self._selection, self._transforms = selection, transforms
        self._seen = self._now()

    def check(self, dataset: Any) -> None:
        """Raises an error if they are others now. dataset is the Loader's own, or one that was given."""
        given = self._selection.given is not None
        of_own = () if given else [name for name in _ATTRIBUTES if getattr(dataset, name, None) is not None]
        if of_own or self._now() != self._seen:
            what = f"loader.dataset.{of_own[0]}" if of_own else "a transform"
            raise ArgumentError(
                f"{what} was changed after the Loader was made, and would have no effect: make a new Loader with it"
            )

    def _now(self) -> list[Any]:
        """What the Loader makes of them: native ops, copies for threads. Calls of the user's own run as they are."""
        from .transforms import translate
        from .transforms.steps import Chain

        found: list[Any] = [id(getattr(d, name, None)) for d in self._selection.datasets for name in _ATTRIBUTES]
        for transforms in self._transforms:
            plan = translate(transforms)
            calls = plan.rest.calls if isinstance(plan.rest, Chain) else (plan.rest,)
            found.append((plan.words, plan.dtype, plan.kind, repr(plan.mixers), plan.named))
            found += [repr(call) for call in calls if call is not None and count_for_threads([call])]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_seen": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._seen = self._now()  # objects have other addresses in another process
