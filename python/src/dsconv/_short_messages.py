"""Shortens the messages of other libraries' errors, some of which print whole tensors."""

from __future__ import annotations

import re

_LONGEST = 500
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
