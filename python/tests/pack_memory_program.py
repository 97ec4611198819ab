"""Packs tiny items of a generator: DST ITEMS. Prints the memory of Python and of the program early and at the end."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dsconv
from object_datasets import LONG, children, png

if __name__ == "__main__":
    dst, n = sys.argv[1], int(sys.argv[2])
    measured: list[list[int]] = []

    def memory(pid: int) -> int:
        """Bytes that are a process's own; pages of mapped files are the kernel's cache."""
        found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        assert found is not None
        return int(found[1]) << 10

    def items() -> Iterator[Any]:
        picture = png(1)
        for i in range(n):
            if i in (20_000, n - 1):
                measured.append([memory(os.getpid()), *map(memory, children())])
            yield picture, i % 3

    dsconv.pack(items(), dst, order="key", progress=False, timeout=LONG)
    print(json.dumps(measured))
