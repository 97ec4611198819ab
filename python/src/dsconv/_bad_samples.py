"""Counts bad samples and warns of the first one. The library keeps the list, whether it or Python found them."""

from __future__ import annotations

import warnings

from ._errors import RunError
from ._source import Source


class BadSamples:
    """The bad samples of a Loader."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._warned = False

    def note(self, sample: int, cause: BaseException) -> None:
        """Counts a sample that the library could read and Python could not use."""
        self._source.call("note", sample=sample, message=str(cause))

    def warn(self, what: str) -> None:
        """Warns once, with the cause of the first bad sample; what is "skipped" or "replaced"."""
        if self._warned:
            return
        samples = self._source.call("bad")["samples"]
        if not samples:
            return  # the dataset was closed and opened again meanwhile, which resets the count
        self._warned = True
        first = samples[0]["message"]
        warnings.warn(f"a bad sample was {what}: {first}; loader.bad() counts and lists all of them", stacklevel=2)


def ends_run(error: Exception) -> bool:
    """Reports whether error is not caused by one sample, so that all others would fail too."""
    return isinstance(error, (RunError, MemoryError)) or type(error).__name__ == "OutOfMemoryError"  # torch's
