"""Short forms of values and messages: an error never prints a tensor."""

from __future__ import annotations

import re
import reprlib
from typing import Any

_LONGEST = 500
_LONGEST_LINE = 1000
_LONGEST_VALUE = 80
_VALUES = re.compile(r"(\w+\s*\()?\[{2,}|\b(tensor|array|Image|Mask|Video)\(\[")


def short_message(error: BaseException) -> str:
    """The error's message without long values. Changes the error and its causes too, which a traceback shows."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if len(cause.args) == 1 and isinstance(cause.args[0], str):
            cause.args = (_shortened(cause.args[0]),)
        cause = cause.__cause__ or cause.__context__
    return _shortened(str(error))


def _shortened(message: str) -> str:
    values = _VALUES.search(message, 0, _LONGEST)  # the rest is cut off anyway, and a search of it could take long
    if values is not None and len(message) > values.start() + 80:
        message = message[: values.start()] + "..."
    return message if len(message) <= _LONGEST else message[: _LONGEST - 3] + "..."


def cut(message: str) -> str:
    """A message of the library or the command with long lines, in which it repeats a long argument, cut."""
    lines = message.split("\n")
    return "\n".join(x if len(x) <= _LONGEST_LINE else f"{x[: _LONGEST_LINE - 300]}...{x[-297:]}" for x in lines)


class _Short(reprlib.Repr):
    """repr() with few elements of containers, and of tensors, arrays and tables only their shape."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = self.maxlong = _LONGEST_VALUE

    def repr1(self, x: Any, level: int) -> str:
        shape = getattr(x, "shape", None)
        if isinstance(shape, tuple) and shape != ():
            return f"{type(x).__name__} of shape {tuple(shape)}"
        return super().repr1(x, level)


def shown(value: Any) -> str:
    """A value in one short line, for a message: of a tensor or an array only its shape."""
    text = " ".join(_Short().repr(value).split())
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def counted(n: int, one: str, many: str = "") -> str:
    """A number and what is counted; many is the plural if it is not one with an s."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def named(call: Any) -> str:
    """A function or a transform in one short line."""
    return getattr(call, "__qualname__", None) or shown(call)
