"""Replaces attributes for a while, and puts back what was there."""

from __future__ import annotations

from typing import Any

_ABSENT = object()


class Patches:
    """Attributes and elements that were replaced. `undo` restores them in reverse order."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, Any, Any, bool]] = []  # holder, name, what was there, an element

    def attribute(self, holder: Any, name: str, value: Any) -> bool:
        """Sets an attribute of an object, class or module. False if that is impossible, as for classes in C."""
        before = vars(holder).get(name, _ABSENT) if hasattr(holder, "__dict__") else getattr(holder, name, _ABSENT)
        try:
            setattr(holder, name, value)
        except Exception:  # an object's own __setattr__ may raise anything
            return False
        self._done.append((holder, name, before, False))
        return True

    def element(self, holder: Any, key: Any, value: Any) -> bool:
        """Sets an element of a list or dict. False if that is impossible."""
        try:
            before = holder[key]
            holder[key] = value
        except Exception:
            return False
        self._done.append((holder, key, before, True))
        return True

    def undo(self) -> None:
        while self._done:
            holder, name, before, element = self._done.pop()
            if element:
                holder[name] = before
            elif before is _ABSENT:
                delattr(holder, name)
            else:
                setattr(holder, name, before)
