"""The samples of a folder that are a dataset's own, with the dataset's own labels."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_CHECKED = 16  # samples whose labels are compared, if the dataset has no list of them
_LABELS = ("targets", "labels")


class OtherLabels(Exception):
    """The labels are not those of the folders that the images are in."""


@dataclass(frozen=True)
class Labels:
    """A target_transform: dsconv's class index to the dataset's label, and on to the dataset's own target_transform."""

    by_class: dict[int, int]
    further: Callable[[Any], Any] | None = None

    def __call__(self, target: Any) -> Any:
        label = self.by_class[int(target)]
        return label if self.further is None else self.further(label)


def indices(paths: Sequence[str], samples: Sequence[tuple[str, Any]]) -> np.ndarray | None:
    """The positions of the paths among a folder's samples; None if one of them is not there."""
    places = {os.path.abspath(path): i for i, (path, _) in enumerate(samples)}
    found = [places.get(os.path.abspath(path), -1) for path in paths]
    return np.array(found, np.int64) if found and min(found) >= 0 else None


def target_transform(dataset: Any, classes: Sequence[int], own: Any) -> Any:
    """What makes dsconv's class index of each sample the dataset's label: own if they are equal.

    Args:
        dataset: whose samples have these classes in dsconv.
        own: the dataset's target_transform.

    Raises OtherLabels if samples of the same folder have several labels.
    """
    listed = labels(dataset, len(classes))
    if listed is not None:
        found = _by_class(classes, listed)
        return own if all(c == label for c, label in found.items()) else Labels(found, own)
    seen = {i: label for i in spread(len(classes)) if (label := _label(dataset[i])) is not None}
    if all((own(classes[i]) if own else classes[i]) == label for i, label in seen.items()):
        return own
    found = _by_class(classes, seen)
    if set(found) != set(classes):
        raise OtherLabels("they are not in the order of the folders' names, nor listed as targets or labels")
    return Labels(found)


def _by_class(classes: Sequence[int], labels: dict[int, int]) -> dict[int, int]:
    """The label of each class. Raises OtherLabels if it has several."""
    found: dict[int, int] = {}
    for i, label in labels.items():
        if found.setdefault(classes[i], label) != label:
            raise OtherLabels("images of the same folder have several labels")
    return found


def labels(dataset: Any, count: int) -> dict[int, int] | None:
    """The class indices that a dataset lists, before its target_transform; None if it lists none."""
    lists = [getattr(dataset, name, None) for name in _LABELS]
    pairs = getattr(dataset, "samples", None)
    if isinstance(pairs, (list, tuple)) and pairs and isinstance(pairs[0], (list, tuple)) and len(pairs[0]) == 2:
        lists.insert(0, [pair[1] for pair in pairs])
    for values in lists:
        if values is None or isinstance(values, str) or not hasattr(values, "__len__") or len(values) != count:
            continue
        found = {i: label for i, value in enumerate(values) if (label := _index(value)) is not None}
        if len(found) == count:
            return found
    return None


def spread(count: int) -> list[int]:
    """Positions of some samples, evenly spread."""
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, _CHECKED))})


def _label(item: Any) -> int | None:
    """The class index in an item (image, label, ...)."""
    return _index(item[1]) if isinstance(item, (list, tuple)) and len(item) > 1 else None


def _index(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None
