"""The samples that a Loader's first arguments name: paths, splits, a Dataset, or torch's Subset and ConcatDataset of
Datasets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import _arguments
from ._errors import ArgumentError, ArgumentTypeError
from ._read_options import FieldMap, read_options
from ._short_messages import shown
from .dataset import Dataset, split_names


@dataclass(frozen=True)
class Part:
    """A dataset, the splits of it (all samples without any), and how it is read: see `_read_options`."""

    path: str
    splits: tuple[str, ...] = ()
    reading: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Selection:
    """Samples of several datasets, one dataset after the other.

    parts    the datasets
    indices  only these of all parts' samples, in this order, int32; None is all
    given    the Dataset, Subset or ConcatDataset; None if paths were given
    datasets the Datasets in it
    """

    parts: tuple[Part, ...]
    indices: np.ndarray | None = None
    given: Any = None
    datasets: tuple[Dataset[Any], ...] = field(default=())

    @property
    def path(self) -> str | list[str]:
        """The path, or the list of several."""
        return self.parts[0].path if len(self.parts) == 1 else [part.path for part in self.parts]

    @property
    def split(self) -> str | list[str] | None:
        """The split, or the list of several; None is all samples."""
        splits = list(dict.fromkeys(name for part in self.parts for name in part.splits))
        return splits if len(splits) > 1 else splits[0] if splits else None

    def configuration(self) -> dict[str, Any]:
        """The library's arguments for it."""
        if len(self.parts) == 1 and len(self.parts[0].splits) <= 1 and not self.parts[0].reading:
            chosen: dict[str, Any] = {"path": self.parts[0].path, "split": "".join(self.parts[0].splits)}
        else:
            chosen = {"paths": [{"path": p.path, "splits": list(p.splits) or None, **p.reading} for p in self.parts]}
        return chosen if self.indices is None else {**chosen, "samples": self.indices}

    def of_datasets(self, name: str) -> Any:
        """An attribute that all Datasets have in common; None without Datasets.

        Raises:
            ValueError: it differs.
        """
        values = [getattr(dataset, name, None) for dataset in self.datasets]
        for value in values[1:]:
            if value is not values[0] and not _equal(value, values[0]):
                raise ArgumentError(f"{name}: the Datasets differ in it: give {name} to the Loader")
        return values[0] if values else None

    def transform_of(self, transform: Any, transforms: Any, views: Any) -> Any:
        """What the Loader's arguments of these names give, else the Datasets' transform. A list of views has its own
        transforms."""
        if transform is not None and transforms is not None:
            raise ArgumentError("transform and transforms are the same argument: give one of them")
        given = transform if transforms is None else transforms
        if given is None and isinstance(views, Sequence):
            return None
        if given is None and self.of_datasets("transforms") is not None:
            raise ArgumentError(
                "the Dataset has transforms for whole items: give the Loader a transform for the images"
            )
        return self.of_datasets("transform") if given is None else given

    def names(self, fields: Sequence[str] | None, as_dict: bool | None) -> tuple[tuple[str, ...], bool, bool]:
        """The fields of a batch, and whether it has names and is a dict: as given, else as the Dataset has it."""
        named = fields is not None or bool(self.of_datasets("named"))
        if fields is None:
            fields = self.of_datasets("fields") or ("image", "label")
        if as_dict is None:
            as_dict = bool(self.of_datasets("as_dict"))
        return _arguments.names("fields", fields), named, _arguments.flag("as_dict", as_dict)


def select(
    path: Any, split: Any, indices: Any, map: FieldMap | None = None, source_format: str | None = None
) -> Selection:
    """The samples that the arguments of those names give."""
    splits, reading = split_names(split), read_options(map, source_format)
    if isinstance(path, (str, bytes, os.PathLike)):
        chosen = Selection((Part(_arguments.path(path), splits, reading),))
    elif isinstance(path, (list, tuple)):
        if not path:
            raise ArgumentError("path=[]: give at least one path")
        if any(isinstance(one, Dataset) for one in path):
            raise ArgumentTypeError("path: the list has Datasets: join them with +, or give a list of their paths")
        chosen = Selection(tuple(Part(_arguments.path(one), splits, reading) for one in path))
    else:
        if reading:
            raise ArgumentError(f"{', '.join(reading)}: a {type(path).__name__} is open already: give it there")
        chosen = _of_object(path)
        if splits:
            raise ArgumentError(
                f"split={shown(split)}: a {type(path).__name__} has its samples already: leave split out"
            )
    if indices is None:
        return chosen
    return _taken(chosen, index_array("indices", indices))


def dataset_of(selection: Selection) -> Dataset[Any]:
    """The samples one at a time, without transforms."""
    path, splits = selection.parts[0].path, list(selection.parts[0].splits)
    dataset: Dataset[Any] = Dataset(
        path, splits if len(splits) > 1 else "".join(splits) or None, **selection.parts[0].reading
    )
    if len(selection.parts) > 1 or selection.indices is not None:
        nothing: dict[str, Any] = {"path": "", "split": "", "splits": []}
        dataset._source.change(**{**nothing, **selection.configuration()})
    return dataset


def index_array(name: str, indices: Any) -> np.ndarray:
    """Indices of samples, in any kind of sequence of whole numbers, as int64."""
    if isinstance(indices, (str, bytes, dict)) or not hasattr(indices, "__iter__"):
        raise ArgumentTypeError(f"{name}={shown(indices)}: it must be a list, an array or a tensor of sample indices")
    values = np.asarray(indices if hasattr(indices, "__array__") else list(indices))
    if values.size == 0:
        return np.zeros(0, np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        form = f"{values.dtype} of shape {values.shape}"
        raise ArgumentTypeError(f"{name}: wanted whole numbers, one for each sample, not {form}")
    return values.astype(np.int64)


def _of_object(given: Any) -> Selection:
    """The samples of a Dataset, or of a Subset or ConcatDataset of Datasets."""
    if isinstance(given, Dataset):
        _check_items(given, Dataset)
        configured = given._source.configuration
        if len(configured.get("paths", ())) > 1 or "samples" in configured:  # dataset_of made it
            raise ArgumentError(
                "this Dataset is a Loader's, of several paths or of some samples: give this Loader the same path, split"
                " and indices, or a Subset"
            )
        reading = read_options(given.map, given.source_format)
        return Selection((Part(given.root, split_names(given.split), reading),), given=given, datasets=(given,))
    kind = _torch_class(given)
    if kind is None:
        raise ArgumentTypeError(
            f"path={shown(given)}: it must be a path, as a str or an os.PathLike, a list of paths, a dsconv.Dataset, "
            "or a torch Subset or ConcatDataset of those"
        )
    _check_items(given, kind)
    if kind.__name__ == "Subset":
        return replace(_taken(_of_object(given.dataset), index_array("Subset.indices", given.indices)), given=given)
    return _joined(given, [_of_object(dataset) for dataset in given.datasets])


def _torch_class(given: Any) -> Any:
    """torch's Subset or ConcatDataset if given is one; else None."""
    for cls in type(given).__mro__:
        if cls.__module__ == "torch.utils.data.dataset" and cls.__name__ in ("Subset", "ConcatDataset"):
            return cls
    return None


def _check_items(given: Any, cls: type) -> None:
    """Raises an error for a subclass whose items are others: the Loader reads the samples itself."""
    for name in ("__getitem__", "__getitems__"):
        if getattr(type(given), name, None) is not getattr(cls, name, None):
            raise ArgumentTypeError(
                f"path={type(given).__name__}: its {name} would not be called: give what it contains, "
                "and what it does as transform or collate_fn"
            )


def _joined(given: Any, parts: Sequence[Selection]) -> Selection:
    indices, first = [], 0
    for dataset, part in zip(given.datasets, parts):
        n = sum(map(len, part.datasets))
        indices.append(first + (np.arange(len(dataset)) if part.indices is None else part.indices))
        first += n
    chosen = Selection(
        tuple(p for part in parts for p in part.parts),
        given=given,
        datasets=tuple(d for p in parts for d in p.datasets),
    )
    if all(part.indices is None for part in parts):
        return chosen
    return replace(chosen, indices=np.concatenate(indices).astype(np.int32))


def _taken(chosen: Selection, indices: np.ndarray) -> Selection:
    """Only these of the chosen samples. Negative indices count from the end where the number of samples is known."""
    if chosen.given is not None:
        n = len(chosen.given)
        indices = np.where(indices < 0, indices + n, indices)
        _check_range(indices, n)
        if chosen.indices is not None:
            indices = chosen.indices[indices]
    elif len(indices) and (indices.min() < 0 or indices.max() > _arguments.LARGEST):
        raise ArgumentError("indices: they must be from 0 to the number of samples - 1")
    return replace(chosen, indices=indices.astype(np.int32))


def _check_range(indices: np.ndarray, n: int) -> None:
    wrong = indices[(indices < 0) | (indices >= n)]
    if len(wrong):
        raise ArgumentError(f"indices: {wrong[0]} is not an index of {n} samples, which are from 0 to {n - 1}")


def _equal(a: Any, b: Any) -> bool:
    """Reports whether two values are equal; what cannot be compared is not."""
    try:
        return bool(a == b)
    except Exception:
        return False
