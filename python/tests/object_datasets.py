"""Datasets of small pictures in Python whose items may fail, and what the tests of packing them share."""

from __future__ import annotations

import contextlib
import os
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import dsconv

PACKAGES = Path(dsconv.__file__).parents[1]
LONG = 600  # seconds: longer than anything takes, but for what hangs
_MARK = "DSCONV_TEST_PROCESSES"


def png(i: int) -> bytes:
    """A PNG of 4x4 pixels that depend on i."""
    row = b"\0" + struct.pack(">I", i % 2**32) * 3
    parts = (b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(row * 4)), (b"IEND", b"")
    chunks = (struct.pack(">I", len(b)) + name + b + struct.pack(">I", zlib.crc32(name + b)) for name, b in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


class Pictures:
    """n pictures and their classes. Item `at` is what `fault` makes of its index, unless that is None. Each item takes
    `seconds`, and adds a byte to the file `log`."""

    def __init__(
        self, n: int = 40, fault: Callable[[int], Any] | None = None, at: int = 20, seconds: float = 0, log: str = ""
    ) -> None:
        self.n, self.fault, self.at, self.seconds, self.log = n, fault, at, seconds, log
        self.classes = ["a", "b", "c"]

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Any:
        time.sleep(self.seconds)
        if self.log:
            with open(self.log, "ab") as f:
                f.write(b".")
        found = self.fault(i) if self.fault is not None and i == self.at else None
        return (png(i), i % 3) if found is None else found


def fails(_: int) -> None:
    raise LookupError("the shelf is empty")


def hangs(_: int) -> None:
    time.sleep(LONG)


def is_killed(_: int) -> None:
    os.kill(os.getpid(), 9)


def leaves(_: int) -> None:
    os._exit(7)


def pixels(_: int) -> Any:
    import numpy as np

    return np.zeros((4, 4, 3), np.uint8), 1


def text_label(i: int) -> Any:
    return png(i), "unknown"


def without_image(_: int) -> Any:
    return {"label": 1}


def another_field(i: int) -> Any:
    return {"image": png(i), "label": 1, "caption": "more"}


def content(path: Path) -> dict[str, bytes]:
    """All files of a dataset. They may name it, so only those of datasets of one name can be equal."""
    found = [p for p in path.parent.rglob("*") if p.is_file() and str(p).startswith(str(path))]
    return {str(p)[len(str(path)) :]: p.read_bytes() for p in found if "report.csv" not in p.name}


def beside(path: Path) -> list[str]:
    """The names in the folder of a dataset."""
    return sorted(p.name for p in path.parent.iterdir())


def marked(name: str) -> dict[str, str]:
    """An environment for a program, all of whose processes `of_mark` finds by the name."""
    return {**os.environ, "PYTHONPATH": f"{PACKAGES}{os.pathsep}{Path(__file__).parent}", _MARK: name}


def of_mark(name: str) -> list[int]:
    """The processes that run with the mark and have not ended."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            pid = int(folder.name)
            if f"{_MARK}={name}\0".encode() in (folder / "environ").read_bytes():
                if (folder / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                    found.append(pid)
    return found


def is_python(pid: int) -> bool:
    """Reports whether a process runs Python; dsconv's program does not."""
    try:
        return "python" in Path(os.readlink(f"/proc/{pid}/exe")).name
    except OSError:
        return False


def children(pid: int | str = "self") -> set[int]:
    """The processes that a process has started."""
    return {int(c) for f in Path(f"/proc/{pid}/task").glob("*/children") for c in f.read_text().split()}


def polled(found: Callable[[], Any], seconds: float = LONG) -> Any:
    """The first value of found that is true."""
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)
    return value


def pictures(n: int, **more: Any) -> Iterator[dict[str, Any]]:
    """Pictures that come one after another."""
    for i in range(n):
        yield {"image": png(i), "label": i % 3, **{k: v(i) for k, v in more.items()}}
