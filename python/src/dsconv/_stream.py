"""An epoch of batches that the library makes."""

from __future__ import annotations

import contextlib
import ctypes
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._memory import Block, Memory
from ._source import Source

_LATER, _END, _ERROR = 1, 2, 3
# How long a call waits before Python may look whether Ctrl-C was pressed.
_PATIENCE_MS = 100


@dataclass
class Raw:
    """A batch as the library gives it."""

    images: Any  # flat uint8 array or tensor, of a block that may be larger
    n: int
    end: int  # position in the epoch behind it, over all ranks
    handle: int  # of its other parts, until the next batch


class Stream:
    """What is left of an epoch, in order. It must be closed; one that is forgotten closes itself.

    Blocks are lent to the library when a batch is begun, and are Python's again when it is given.
    """

    def __init__(
        self, source: Source, memory: Memory, epoch: int, position: int, samples: np.ndarray | None = None
    ) -> None:
        self._source, self._memory = source, memory
        self._run: int | None = None
        self._lent: dict[int, Block] = {}  # to the library, by address
        self._first = True
        self._pid = os.getpid()
        description = source.describe()
        count = description["slots"]
        blocks = (ctypes.c_void_p * count)(*[self._lend() for _ in range(count)])
        items, n = None, 0
        if samples is not None:
            samples = np.ascontiguousarray(samples, np.int32)
            items, n = samples.ctypes.data, len(samples)
        lib = _native.library()
        reply = lib.dsconv_start(description["loader"], epoch, position, items, n, blocks, count)
        self._run = _native.result(reply)["run"]

    def _lend(self) -> int:
        block = self._memory.new()
        self._lent[block.address] = block
        return block.address

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Raw:
        if self._run is None or self._pid != os.getpid():
            raise StopIteration
        lib, run = _native.library(), self._run
        info, failed = _native.BatchInfo(), ctypes.c_void_p()
        block = None if self._first else self._lend()
        self._first = False
        while True:
            status = lib.dsconv_next(run, block, _PATIENCE_MS, info, failed)
            if status != _LATER:
                break
            block = None
        if status == _ERROR:
            try:
                _native.result(failed.value)
            finally:
                self.close()
        if status == _END:
            self.close()
            raise StopIteration
        done = self._lent.pop(info.images)
        return Raw(self._memory.lend(done), info.n, info.end, run)

    def close(self) -> None:
        """Ends the epoch and waits for its threads."""
        run, self._run = self._run, None
        if run is None or self._pid != os.getpid():
            return
        _native.library().dsconv_stop(run)
        for block in self._lent.values():
            self._memory.take_back(block)
        self._lent.clear()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # the interpreter may be ending
            self.close()
