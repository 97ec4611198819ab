"""The batches of an epoch, as the library produces them."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library
from ._batch_memory import Block, Memory
from ._errors import ForkError
from ._held import Held
from ._samplers import Sampled
from ._source import Source

_LATER, _END, _ERROR = 1, 2, 3
# How long a call waits before it returns, so that Python can handle Ctrl-C.
_TIMEOUT_MS = 100


@dataclass
class RawBatch:
    """A batch as the library produces it."""

    images: Any  # flat uint8 array or tensor, of a block that may be larger; None if they are on a GPU
    n: int
    end: int  # position in the epoch after it, over all ranks
    handle: int  # of its other fields, valid until the next batch
    bad: bool  # some of its samples were skipped or replaced


# The blocks that the library may be writing to, by address. They must stay until the epoch's threads have stopped, even
# if its BatchStream is gone.
_in_use: dict[int, Block] = {}


class BatchStream(Held):
    """The rest of an epoch, in order. It must be closed; its destructor closes it too.

    The library borrows a block when a batch begins and gives it back with the batch.

    Ctrl-C can interrupt after any line. So the run's handle and a block are stored before the library gets them, and
    removed after the library has given them up.
    """

    def __init__(
        self, source: Source, memory: Memory | None, epoch: int, position: int, sampled: Sampled | None = None
    ) -> None:
        self._source, self._memory = source, memory
        self._pid = os.getpid()
        self._run = ctypes.c_int64()
        self._lent: dict[int, Block] = {}  # to the library, by address
        self._first = self._open = True
        description = source.describe()
        count = 0 if memory is None else description["slots"]
        blocks = (ctypes.c_void_p * count)(*[self._lend() for _ in range(count)])
        listed = (None, 0, None, 0) if sampled is None else (*_array(sampled.indices), *_array(sampled.sizes))
        lib = _library.library()
        try:
            started = lib.dsconv_start(description["loader"], epoch, position, *listed, blocks, count, self._run)
            _library.result(started)
        except BaseException:
            self.close()
            raise

    def _lend(self) -> int:
        assert self._memory is not None
        block = self._memory.new()
        self._lent[block.address] = _in_use[block.address] = block
        return block.address

    def __iter__(self) -> BatchStream:
        return self

    def __next__(self) -> RawBatch:
        if self._pid != os.getpid():
            raise ForkError("this epoch began before the process was forked: iterate over the Loader again")
        if not self._open:
            raise StopIteration
        lib, run = _library.library(), self._run.value
        info, failed = _library.BatchInfo(), ctypes.c_void_p()
        block = None if self._first or self._memory is None else self._lend()
        self._first = False
        while True:
            status = lib.dsconv_next(run, block, _TIMEOUT_MS, info, failed)
            if status != _LATER:
                break
            block = None
        if status == _ERROR:
            try:
                _library.result(failed.value)
            finally:
                self.close()
        if status == _END:
            self.close()
            raise StopIteration
        images = None
        if self._memory is not None:
            done = self._lent.pop(info.images)
            del _in_use[info.images]
            images = self._memory.lend(done)
        return RawBatch(images, info.n, info.end, run, info.skipped + info.substituted > 0)

    def close(self) -> None:
        """Stops the epoch and waits for its threads."""
        if self._ending() or not self._open or self._pid != os.getpid():
            return
        if self._run.value:
            _library.library().dsconv_stop(self._run)
        while self._lent:
            address, block = self._lent.popitem()
            del _in_use[address]
            if self._memory is not None:
                self._memory.take_back(block)
        self._open = False


def _array(values: np.ndarray | None) -> tuple[int | None, int]:
    """The address and length of a list that the library copies."""
    return (None, 0) if values is None else (values.ctypes.data, len(values))
