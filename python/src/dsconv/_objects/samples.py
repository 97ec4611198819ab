"""Any dataset as one kind of thing: samples that are read by their index, or one after another."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

from .._errors import ArgumentError
from .._short_messages import cut, shown
from . import files
from .fields import Buffers, Columns, Field, infer, named_values, packed

Keys = Union[Sequence[str], str, None]

_KEY = "\0key"  # the name of a value that is the key
_LOOKED_AT = 16  # items whose values decide the fields
_STATE_BYTES = 1 << 20  # that the program takes
_NOTHING = object()
_EMPTY = "the split {!r} is empty: leave it out"
_PACKAGE = os.path.dirname(__file__) + os.sep


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
    names: set[str] = field(default_factory=set)  # of the fields
    first: list[Any] = field(default_factory=list)  # items of an iterable that were looked at
    rest: Iterator[Any] = iter(())  # the other ones
    at: int = 0  # the split that an iterable is in
    skipped: int = 0  # items before those that it gives
    resumes: bool = False  # an iterable has a state, from which it goes on with the next item
    size: int = 0  # of the first sample that can be read, in bytes
    digest: str = ""  # of it
    random: bool = False  # it differs when it is read again

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

    def each(self, start: int = 0) -> Iterator[tuple[str, Any]]:
        """The split and the item of each sample of an iterable from `start` on, as the dataset gives it."""
        return itertools.islice(itertools.chain(self.first, self.rest), max(start - self.skipped, 0), None)

    def _rest(self) -> Iterator[tuple[str, Any]]:
        for at in range(self.at, len(self.datasets)):
            self.at, (name, dataset), item = at, self.datasets[at], _NOTHING
            for item in dataset:
                yield name, item
            if item is _NOTHING and name and not self.skipped:
                raise ArgumentError(_EMPTY.format(name))

    def state(self, done: int) -> bytes:
        """The state after that many items; empty if it is long or JSON would change it, such as numbers as keys."""
        with contextlib.suppress(TypeError, ValueError):
            found = [done, self.at, self.datasets[self.at][1].state_dict()]
            text = json.dumps(found)
            if len(text) <= _STATE_BYTES and json.loads(text) == found:
                return text.encode()
        return b""

    def go_on(self, state: bytes) -> None:
        """Goes on with a state."""
        if state:
            self.first, self.rest = [], self._rest()  # what ends the iterator that was begun must not change the state
            self.skipped, self.at, inner = json.loads(state)
            self.datasets[self.at][1].load_state_dict(inner)

    def look(self) -> list[tuple[int, dict[str, Any]]]:
        """The indices and values of the first items that can be read. The items of an iterable are kept."""
        if not self.indexed:
            self.rest = self._rest()
        values: list[tuple[int, dict[str, Any]]] = []
        failures: list[Exception] = []
        for i, item in enumerate(itertools.islice(range(len(self)) if self.indexed else self.rest, _LOOKED_AT)):
            if not self.indexed:
                self.first.append(item)
            try:
                values.append((i, self[i] if self.indexed else self.named(item[1])))
            except Exception as err:
                failures.append(err)
                continue
            if all(v is not None for v in values[0][1].values()):
                break
        if not values and failures:
            raise ArgumentError(f"item 0 of the dataset: {describe(failures[0])}") from failures[0]
        if not values:
            raise ArgumentError("the dataset is empty")
        return values

    def begin(self, classes: Sequence[str] | None) -> None:
        """Reads the first items, which decide the fields."""
        looked = self.look()
        known, single = self._classes() if classes is None else ({}, class_list(classes))
        i = looked[0][0]
        try:
            self.decide([v for _, v in looked], known, single)
            self.random = self.indexed and digest(self.encode(self[i])) != self.digest
        except (ValueError, OSError) as err:
            raise ArgumentError(f"item {i} of the dataset: {err}") from err
        self.resumes = not self.indexed and all(files.has_state(d) for _, d in self.datasets) and self.state(0) != b""

    def _classes(self) -> tuple[dict[str, list[str]], list[str] | None]:
        """The classes that the datasets know."""
        known = [(name, found) for name, d in self.datasets if (found := files.classes_of(d)) != ({}, None)]
        for name, found in known:
            if found != known[0][1]:
                raise ArgumentError(
                    f"the splits {known[0][0]!r} and {name!r} have different classes, so that equal numbers are "
                    "different labels: give both datasets the same classes in the same order"
                )
        return known[0][1] if known else ({}, None)

    def decide(
        self, looked: Sequence[dict[str, Any]], known: Mapping[str, list[str]], single: list[str] | None
    ) -> None:
        """Decides the fields by the values of the first items."""
        self.fields = infer(looked, known, single)
        self.names = {f.name for f in self.fields}
        sent = self.encode(dict(looked[0]))
        self.size, self.digest = sum(len(b) for b in sent), digest(sent)

    def encode(self, values: dict[str, Any], key: str | None = None, split: str | None = None) -> Buffers:
        """An answer for the program: see Go's internal/items."""
        if self.key_field is not None:
            key = _text_key(values.pop(_KEY, None))
        if len(values) > len(self.fields) or not values.keys() <= self.names:
            extra = next(name for name in values if name not in self.names)
            raise ValueError(f"it has {extra!r}, which the first items do not have: columns= names what is packed")
        found: Buffers = [packed(3 + len(self.fields), key, split or None, None)]
        for f in self.fields:
            found += f.encode(values.get(f.name))
        return found


def class_list(classes: Sequence[str]) -> list[str]:
    if isinstance(classes, str):
        raise ArgumentError(f"classes={classes!r}: it must be a list of names")
    return list(classes)


def failed(err: Exception) -> Buffers:
    """An answer that says why there is no sample. What the operating system says is no bad sample, unless a file is
    missing: the program decides that."""
    number = getattr(err, "errno", None) or getattr(err.__cause__, "errno", None)
    text = cut(describe(err)).encode("utf-8", "backslashreplace").decode()
    return [packed(4, None, None, text, number if type(number) is int else 0)]


def describe(err: BaseException) -> str:
    """An exception and, unless this package raised it, where it was raised, in one line."""
    frames = traceback.extract_tb(err.__traceback__)
    if isinstance(err, ValueError) and frames and frames[-1].filename.startswith(_PACKAGE):
        return str(err)
    theirs = [f for f in frames if not f.filename.startswith(_PACKAGE)]
    where = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(theirs[-4:]))
    return f"{type(err).__name__}: {err} ({where})" if where else f"{type(err).__name__}: {err}"


def digest(buffers: Buffers) -> str:
    found = hashlib.sha256()
    for b in buffers:
        found.update(b)
    return found.hexdigest()


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
    splits = dict(dataset) if isinstance(dataset, Mapping) else {"": dataset}
    if not splits:
        raise ArgumentError("the dataset is empty: a dict without datasets")
    named = [(name, d if mapped else files.as_files(d)) for name, d in sorted(splits.items())]
    for name, d in named:
        if not is_indexed(d) and not hasattr(d, "__iter__"):
            where = f"the dataset of the split {name!r}" if name else "src"
            raise TypeError(f"{where} is {shown(d)}: neither a path nor anything that can be indexed or iterated")
        if name and is_indexed(d) and not len(d):
            raise ArgumentError(_EMPTY.format(name))
    s = Samples(named, columns, mapped)
    s.begin(classes)
    if keys is None and not mapped and len(splits) == 1 and files.is_folder(dataset):
        keys = files.keys_of(dataset)
    _set_keys(s, keys, named)
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
