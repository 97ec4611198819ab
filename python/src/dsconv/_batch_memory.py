"""The memory of batches: blocks that Python and the library use in turn."""

from __future__ import annotations

import mmap
from collections import deque
from typing import Any, Protocol

import numpy as np


class Block:
    """Memory for one batch: its address, and the object that owns it."""

    __slots__ = ("address", "owner", "size")

    def __init__(self, address: int, size: int, owner: Any) -> None:
        self.address, self.size, self.owner = address, size, owner


class Memory(Protocol):
    """Allocates blocks, and turns those that the library has filled into arrays or tensors."""

    def new(self) -> Block: ...

    def lend(self, block: Block) -> Any:
        """The block as a flat uint8 array or tensor. It is used again after the last reference to that is gone."""

    def take_back(self, block: Block) -> None:
        """Returns a block that was not lent."""


class Pages:
    """Pageable memory, which is used again when no tensor refers to it any more.

    The system would have to clear new memory for each batch, page by page: a tenth of the time of batches of raw
    pixels.
    """

    def __init__(self, size: int, keep: int) -> None:
        self._size = size
        self._free: deque[Block] = deque(maxlen=keep)

    def new(self) -> Block:
        try:
            return self._free.popleft()
        except IndexError:
            pass
        # Private, so that a forked process does not write into its parent's block.
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
    """The base object of a block's arrays. When the last array is gone, the block is free."""

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
    """Pinned memory of PyTorch's allocator, which waits for copies to a GPU that have not ended."""

    def __init__(self, size: int) -> None:
        self._size = size

    def new(self) -> Block:
        import torch

        tensor = torch.empty(self._size, dtype=torch.uint8, device="cpu", pin_memory=True)
        return Block(tensor.data_ptr(), self._size, tensor)

    def lend(self, block: Block) -> Any:
        return block.owner

    def take_back(self, block: Block) -> None:
        """Does nothing: the tensor frees its memory."""
