"""Batches and items whose values go by the names of their fields: named tuples and dicts."""

from __future__ import annotations

import functools
import keyword
import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ._errors import ArgumentError

if TYPE_CHECKING:
    Value_ = TypeVar("Value_", covariant=True)

    class Named(tuple[Value_, ...]):
        """A named tuple, as type checkers see it: the names are known when the program runs."""

        index: Any  # of the samples; no tuple's method where "index" is among the fields
        _fields: tuple[str, ...]

        def __getattr__(self, name: str) -> Any: ...


@dataclass(frozen=True)
class Form:
    """Makes named tuples or dicts of the values of fields.

    kind     the named tuple's class: "Batch" or "Item"
    names    of the fields
    as_dict  dicts instead of named tuples
    """

    kind: str
    names: tuple[str, ...]
    as_dict: bool

    def __call__(self, values: Iterable[Any]) -> Any:
        if self.as_dict:
            return dict(zip(self.names, values))
        return named_tuple(self.kind, self.names)._make(values)

    def transformed(self, transforms: Callable[..., Any], values: Sequence[Any]) -> Any:
        """What transforms return for the values: they are called with a dict, or with one argument for each field."""
        if self.as_dict:
            return transforms(self(values))
        result = transforms(*values)
        plain = type(result) in (tuple, list) and len(result) == len(self.names)
        return self(result) if plain else result


def form(kind: str, names: tuple[str, ...], named: bool, as_dict: bool) -> Form | None:
    """The form of batches or items; None for plain tuples."""
    if not named and not as_dict:
        return None
    twice = sorted({name for name in names if names.count(name) > 1})
    if as_dict and twice:
        raise ArgumentError(f"as_dict: the fields name {', '.join(twice)} twice, and a dict has one value for a name")
    return Form(kind, names, as_dict)


@functools.cache
def named_tuple(kind: str, names: tuple[str, ...]) -> Any:
    """The class of named tuples with an attribute for each field.

    A name that no attribute can have is changed: what is no letter, digit or underscore becomes an underscore, and
    Python's own words get one at their end, such as class_. If it still cannot be an attribute (3d, _x, a second one of
    the same name), it is its position with an underscore, as namedtuple(rename=True) has it.
    """
    attributes = [re.sub(r"\W", "_", name) for name in names]
    attributes = [f"{name}_" if keyword.iskeyword(name) else name for name in attributes]
    base = namedtuple(kind, attributes, rename=True)  # type: ignore[misc]
    members = {"__slots__": (), "__reduce__": lambda self: (_restored, (kind, names, tuple(self)))}
    return type(kind, (base,), members)


def _restored(kind: str, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """A pickled named tuple. The class itself cannot be pickled: no module has it."""
    return named_tuple(kind, names)._make(values)
