"""Any dataset as one kind of thing: samples that are read by their index, or one after another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

import msgpack

from .._errors import ArgumentError
from .._short_messages import shown
from . import files
from .fields import Buffers, Columns, Field, infer, named_values

Keys = Union[Sequence[str], str, None]

_KEY = "\0key"  # the name of a value that is the key
_LOOKED_AT = 16  # items whose values decide the fields
_END = msgpack.packb(None)


def is_indexed(dataset: Any) -> bool:
    """Reports whether items can be read by their index."""
    kind = type(dataset)
    if not hasattr(kind, "__len__") or not hasattr(kind, "__getitem__"):
        return False
    getter = kind.__getitem__
    if getattr(getter, "__module__", "").startswith("torch.utils.data"):
        return kind.__name__ in ("Subset", "ConcatDataset", "TensorDataset", "StackDataset")
    return True


@dataclass
class Samples:
    """Datasets by the names of their splits, and how their items become samples."""

    datasets: list[tuple[str, Any]]  # in the order of the names
    columns: Columns | None
    mapped: Callable[[Any], Any] | None
    order: list[int] | None = None  # by the ranks of the keys
    keys: list[str] | None = None  # in ascending order
    key_field: str | None = None  # the field of items that has the key
    fields: list[Field] = field(default_factory=list)
    first: list[Any] = field(default_factory=list)  # items of an iterable that were looked at
    iterators: list[Iterator[Any]] = field(default_factory=list)

    @property
    def indexed(self) -> bool:
        return all(is_indexed(d) for _, d in self.datasets)

    def lengths(self) -> list[tuple[str, int]]:
        return [(name, len(d)) for name, d in self.datasets]

    def __len__(self) -> int:
        return sum(len(d) for _, d in self.datasets)

    def named(self, item: Any) -> dict[str, Any]:
        item = self.mapped(item) if self.mapped else item
        values = named_values(item, self.columns)
        if self.key_field is not None:
            values[_KEY] = (
                item.get(self.key_field) if isinstance(item, Mapping) else getattr(item, self.key_field, None)
            )
        return values

    def __getitem__(self, i: int) -> dict[str, Any]:
        at = self.order[i] if self.order is not None else i
        for _, dataset in self.datasets:
            if at < len(dataset):
                return self.named(dataset[at])
            at -= len(dataset)
        raise IndexError(i)

    def each(self) -> Iterator[tuple[str, Any]]:
        """The split and the item of each sample of an iterable, as the dataset gives it."""
        yield from self.first
        for (name, _), items in zip(self.datasets, self.iterators):
            for item in items:
                yield name, item

    def look(self) -> list[dict[str, Any]]:
        """The values of the first items. Those of an iterable are kept."""
        if self.indexed:
            each: Iterator[dict[str, Any]] = (self[i] for i in range(len(self)))
        else:
            self.iterators = [iter(d) for _, d in self.datasets]
            each = self._kept()
        values: list[dict[str, Any]] = []
        for one in itertools.islice(each, _LOOKED_AT):
            values.append(one)
            if all(v is not None for v in values[0].values()):
                break
        if not values:
            raise ArgumentError("the dataset is empty")
        return values

    def _kept(self) -> Iterator[dict[str, Any]]:
        for (name, _), items in zip(self.datasets, self.iterators):
            for item in items:
                self.first.append((name, item))
                yield self.named(item)

    def encode(self, values: dict[str, Any], key: str | None = None, split: str | None = None) -> Buffers:
        """An answer for the program: see Go's internal/items."""
        if self.key_field is not None:
            key = _text_key(values.pop(_KEY, None))
        extra = [name for name in values if all(f.name != name for f in self.fields)]
        if extra:
            raise ValueError(f"it has {extra[0]!r}, which the first items do not have: columns= names what is packed")
        found: Buffers = [_HEAD(len(self.fields)) + msgpack.packb(key) + msgpack.packb(split or None) + _END]
        for f in self.fields:
            found += f.encode(values.get(f.name))
        return found


def _HEAD(fields: int) -> bytes:
    head: bytes = msgpack.Packer().pack_array_header(3 + fields)
    return head


def failed(message: str) -> Buffers:
    """An answer that says why there is no sample."""
    return [_HEAD(0) + _END + _END + msgpack.packb(message)]


def _text_key(key: Any) -> str:
    if not isinstance(key, (str, int)) or key == "":
        raise ValueError(f"its key is {shown(key)}: it must be a text")
    return str(key)


def gather(
    dataset: Any,
    columns: Columns | None,
    mapped: Callable[[Any], Any] | None,
    keys: Keys,
    classes: Sequence[str] | None,
) -> Samples:
    """The samples of a dataset, or of a dict of datasets by split, with their fields."""
    whole = dataset
    splits = dict(dataset) if isinstance(dataset, Mapping) else {"": dataset}
    if not splits:
        raise ArgumentError("the dataset is empty: a dict without datasets")
    named = [(name, d if mapped else files.as_files(d)) for name, d in sorted(splits.items())]
    for name, d in named:
        if not is_indexed(d) and not hasattr(d, "__iter__"):
            where = f"the dataset of the split {name!r}" if name else "src"
            raise TypeError(f"{where} is {shown(d)}: neither a path nor anything that can be indexed or iterated")
    s = Samples(named, columns, mapped)
    known, single = files.classes_of(next(iter(splits.values())))
    if classes is not None:
        known, single = {}, list(classes)
    try:
        looked = s.look()
    except ValueError as err:
        raise ArgumentError(f"item 0 of the dataset: {err}") from err
    if keys is None and not mapped and len(splits) == 1 and files.is_folder(dataset):
        keys = files.keys_of(dataset)
    _set_keys(s, keys, named)
    try:
        s.fields = infer(looked, known, single)
    except (ValueError, OSError) as err:
        raise ArgumentError(f"item 0 of {type(whole).__name__}: {err}") from err
    return s


def _set_keys(s: Samples, keys: Keys, named: list[tuple[str, Any]]) -> None:
    if keys is None and not s.indexed and isinstance(s.first[0][1], Mapping) and "__key__" in s.first[0][1]:
        keys = "__key__"
    if keys is None:
        return
    if isinstance(keys, str):
        column = [d[keys] for _, d in named if hasattr(d, "features")] if s.indexed else []
        if not column and s.indexed:
            raise ArgumentError(f"keys={keys!r}: give a list with a key for each of the {len(s)} items")
        if not column:
            s.key_field = keys
            return
        keys = [str(k) for part in column for k in part]
    if not s.indexed or len(keys) != len(s):
        raise ArgumentError(f"keys has {len(keys)} keys: it must have one for each item of a dataset that has a length")
    encoded = [k.encode() for k in keys]
    s.order = sorted(range(len(encoded)), key=encoded.__getitem__)
    s.keys = [keys[i] for i in s.order]
    for a, b in zip(s.keys, s.keys[1:]):
        if a == b:
            raise ArgumentError(f"two items have the key {a!r}: keys must differ")
    if len(s.datasets) > 1:
        raise ArgumentError("keys= is for one dataset; those of several splits are the split and the index")
