"""Where batches lie: blocks of memory that go back and forth between Python and the library."""

from __future__ import annotations

import mmap
from collections import deque
from typing import Any, Protocol

import numpy as np


class Block:
    """Memory that batches are made in: an address and what keeps it there."""

    __slots__ = ("address", "owner", "size")

    def __init__(self, address: int, size: int, owner: Any) -> None:
        self.address, self.size, self.owner = address, size, owner


class Memory(Protocol):
    """Makes blocks, and arrays or tensors of what the library has put into one."""

    def new(self) -> Block: ...

    def lend(self, block: Block) -> Any:
        """The block as a flat uint8 array or tensor. The block is used again when nobody has it any more."""

    def take_back(self, block: Block) -> None:
        """Takes a block that nothing was made in."""


class Pages:
    """Pages of this process, used again once no tensor shows them any more.

    New memory for each batch would have to be cleared by the system, page after page: a tenth of the time that batches
    of raw pixels take.
    """

    def __init__(self, size: int, keep: int) -> None:
        self._size = size
        self._free: deque[Block] = deque(maxlen=keep)

    def new(self) -> Block:
        try:
            return self._free.popleft()
        except IndexError:
            pass
        # Private: a forked process that uses its copy of the block must not write into its parent's.
        pages = mmap.mmap(-1, max(self._size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            pages.madvise(mmap.MADV_HUGEPAGE)
        array = np.frombuffer(pages, np.uint8)
        return Block(array.ctypes.data, self._size, array)

    def lend(self, block: Block) -> np.ndarray:
        return np.asarray(_Lent(block, self._free))

    def take_back(self, block: Block) -> None:
        self._free.append(block)

    def __reduce__(self) -> tuple[Any, ...]:
        return Pages, (self._size, self._free.maxlen)


class _Lent:
    """What arrays that show a block refer to; the block is free when the last of them is gone."""

    __slots__ = ("__array_interface__", "_block", "_free", "__weakref__")

    def __init__(self, block: Block, free: deque[Block]) -> None:
        self._block, self._free = block, free
        self.__array_interface__ = {
            "shape": (block.size,),
            "typestr": "|u1",
            "data": (block.address, False),
            "version": 3,
        }

    def __del__(self) -> None:
        self._free.append(self._block)


class Pinned:
    """Pinned memory of PyTorch's own allocator, which knows of copies to a GPU that are still under way."""

    def __init__(self, size: int) -> None:
        self._size = size

    def new(self) -> Block:
        import torch

        tensor = torch.empty(self._size, dtype=torch.uint8, pin_memory=True)
        return Block(tensor.data_ptr(), self._size, tensor)

    def lend(self, block: Block) -> Any:
        return block.owner

    def take_back(self, block: Block) -> None:
        """Nothing is to be done: its tensor frees it."""
