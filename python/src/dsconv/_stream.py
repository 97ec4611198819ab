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
    bad: bool  # samples of it were skipped or replaced


# What the library may be writing to, by address: it must stay until the run has stopped, whatever becomes of a Stream.
_in_use: dict[int, Block] = {}


class Stream:
    """What is left of an epoch, in order. It must be closed; one that is forgotten closes itself.

    Blocks are lent to the library when a batch is begun, and are Python's again when it is given.

    Any line may be the last, as Ctrl-C can come behind each. So a run's handle and a block are noted before the
    library knows of them, and forgotten after it has forgotten them.
    """

    def __init__(
        self, source: Source, memory: Memory, epoch: int, position: int, samples: np.ndarray | None = None
    ) -> None:
        self._source, self._memory = source, memory
        self._pid = os.getpid()
        self._run = ctypes.c_int64()
        self._lent: dict[int, Block] = {}  # to the library, by address
        self._first = self._open = True
        description = source.describe()
        count = description["slots"]
        blocks = (ctypes.c_void_p * count)(*[self._lend() for _ in range(count)])
        items, n = None, 0
        if samples is not None:
            samples = np.ascontiguousarray(samples, np.int32)
            items, n = samples.ctypes.data, len(samples)
        lib = _native.library()
        try:
            _native.result(lib.dsconv_start(description["loader"], epoch, position, items, n, blocks, count, self._run))
        except BaseException:
            self.close()
            raise

    def _lend(self) -> int:
        block = self._memory.new()
        self._lent[block.address] = _in_use[block.address] = block
        return block.address

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Raw:
        if self._pid != os.getpid():
            raise _native.ForkError("this epoch was begun before the process was forked: iterate the Loader anew")
        if not self._open:
            raise StopIteration
        lib, run = _native.library(), self._run.value
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
        del _in_use[info.images]
        return Raw(self._memory.lend(done), info.n, info.end, run, info.skipped + info.substituted > 0)

    def close(self) -> None:
        """Ends the epoch and waits for its threads."""
        if not self._open or self._pid != os.getpid():
            return
        if self._run.value:
            _native.library().dsconv_stop(self._run)
        while self._lent:
            address, block = self._lent.popitem()
            del _in_use[address]
            self._memory.take_back(block)
        self._open = False

    def __del__(self) -> None:
        with contextlib.suppress(Exception, SystemExit):  # the interpreter may be ending
            self.close()
