"""The types of a Loader's batches, for type checkers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypedDict, Union

import numpy as np

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import torch
    from torch import Tensor
    from torch.utils.data import ConcatDataset, Subset

    from ._read_options import FieldMap
    from .dataset import Dataset

    # The values of one field in a batch: a tensor; a list of tensors whose shapes differ; texts, which keys and columns
    # are; bytes; or parsed JSON. Without PyTorch, arrays of numpy instead of tensors.
    Value = Union[Tensor, list[Tensor], list[str], list[bytes], list[object]]
    Path = Union[str, os.PathLike[str]]
    # What names a Loader's samples.
    Samples = Union[Path, Sequence[Path], Dataset[Any], Subset[Any], ConcatDataset[Any]]
    Indices = Union[Sequence[int], np.ndarray, Tensor]
    Weights = Union[Sequence[float], np.ndarray, Tensor]
    DType = Union[str, torch.dtype, type[np.generic]]


class Options(TypedDict, total=False):
    """The Loader's keyword arguments that don't change the type of its batches."""

    seed: int | None
    num_workers: int | None
    prefetch_factor: int | None
    pin_memory: bool
    drop_last: bool
    split: str | Sequence[str] | None
    transform: Any
    sampler: Iterable[int] | None
    batch_sampler: Iterable[Sequence[int]] | None
    indices: Indices | None
    weights: Weights | None
    rank: int | None
    world_size: int | None
    dtype: DType | None
    memory_format: torch.memory_format | str | None
    device: str | int | torch.device | None
    cache: str | None
    on_error: str
    strict: bool
    decode: str
    orientation: bool
    color: str
    tail: str | None
    label_dtype: str | torch.dtype | type[np.generic] | None
    max_pixels: int | None
    normalize: str | None
    decoder: str
    nvjpeg: Path | None
    generator: torch.Generator | None
    in_order: bool
    multiprocessing_context: Any
    persistent_workers: bool
    pin_memory_device: str
    timeout: float
    worker_init_fn: Callable[[int], None] | None
    map: FieldMap | None
    source_format: str | None
