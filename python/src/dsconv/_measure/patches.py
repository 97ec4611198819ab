"""Replaces attributes for a while, and puts back what was there."""

from __future__ import annotations

import contextlib
from typing import Any

_ABSENT = object()


class Patches:
    """Attributes and elements that were replaced. `undo` restores them in reverse order."""

    def __init__(self) -> None:
        self._undo = contextlib.ExitStack()

    def attribute(self, holder: Any, name: str, value: Any) -> None:
        """Sets an attribute of an object, class or module, if that is possible: not of classes in C."""
        before = vars(holder).get(name, _ABSENT) if hasattr(holder, "__dict__") else getattr(holder, name, _ABSENT)
        with contextlib.suppress(Exception):  # an object's own __setattr__ may raise anything
            setattr(holder, name, value)
            if before is _ABSENT:
                self._undo.callback(delattr, holder, name)
            else:
                self._undo.callback(setattr, holder, name, before)

    def element(self, holder: Any, key: Any, value: Any) -> None:
        """Sets an element of a list or dict, if that is possible."""
        with contextlib.suppress(Exception):
            before = holder[key]
            holder[key] = value
            self._undo.callback(holder.__setitem__, key, before)

    def undo(self) -> None:
        self._undo.close()
