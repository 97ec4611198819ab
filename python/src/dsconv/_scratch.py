"""Temporary folders that a later dsconv can remove when this process was killed, as internal/scratch makes them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator

_MARKER = "dsconv removes this folder and all in it once the process that made it has ended\n"


@contextlib.contextmanager
def scratch(purpose: str) -> Iterator[str]:
    """A temporary folder, removed at the end. The marker in it is locked for as long as this process lives."""
    with tempfile.TemporaryDirectory(prefix=f"dsconv-{purpose}-") as folder:
        with open(os.path.join(folder, "dsconv-scratch"), "x", encoding="utf-8") as marker:
            with contextlib.suppress(OSError):  # without locks the folder stays when this process is killed
                fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
                marker.write(_MARKER)
                marker.flush()
            yield folder
