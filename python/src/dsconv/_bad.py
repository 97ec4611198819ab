"""Samples that could not be used: which they are is the library's to remember, whoever found out."""

from __future__ import annotations

import warnings

from ._source import Source


class Bad:
    """Notes a Loader's bad samples, and warns of the first one."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._warned = False

    def note(self, sample: int, cause: BaseException) -> None:
        """Counts one that the library has read, but Python could not use."""
        self._source.call("note", sample=sample, message=str(cause))

    def warn(self, what: str) -> None:
        """Tells the cause of the first one, once; what became of it is in one word."""
        if self._warned:
            return
        samples = self._source.call("bad")["samples"]
        if not samples:
            return  # the dataset was opened anew meanwhile, which begins the count anew
        self._warned = True
        first = samples[0]["message"]
        warnings.warn(f"a bad sample was {what}: {first}; loader.bad() counts and names them all", stacklevel=2)


def ends_run(error: Exception) -> bool:
    """Whether error is not about one sample: no other would fare better."""
    from ._native import RunError

    return isinstance(error, (RunError, MemoryError)) or type(error).__name__ == "OutOfMemoryError"  # torch's
