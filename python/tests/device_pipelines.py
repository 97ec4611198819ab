"""Transforms whose last steps a device can carry out, and what compares batches."""

from __future__ import annotations

import itertools
from typing import Any

import dsconv
import torch

NORMALIZE = "rrc:32,flip,normalize"
PIPELINES = {
    "bytes": "centercrop:32",
    "flips": "rrc:32,flip,vflip",
    "normalize": NORMALIZE,
    "other means": "rrc:32x24,flip,normalize:0.1/0.2/0.3:0.7/0.9/1.3",
    "erase": f"{NORMALIZE},erase:0.7",
    "colours erased": f"{NORMALIZE},erase:0.5:value=0.1/-2/3,erase:0.9:scale=0.1-0.2",
    "noise": f"{NORMALIZE},erase:0.6:value=random,erase:0.4:value=2",
    "colour": "rrc:32,jitter:0.4,flip,normalize",
    "pixels moved after a flip": "resize:40,flip,rotate:30,centercrop:32",
    "mixup": f"{NORMALIZE},mixup:0.4",
    "cutmix": f"{NORMALIZE},cutmix:1",
    "all": f"{NORMALIZE},erase:0.5,mixup:1,cutmix:1",
    "bytes cut and erased": "rrc:32,flip,erase:0.5:value=7,cutmix:1",
}
FLOATS = ("float32", "float16", "bfloat16")


def epochs(path: Any, **options: Any) -> list[Any]:
    """The values of the batches of two epochs."""
    options = {"shuffle": True, "seed": 5, "num_workers": 2, "batch_size": 7, **options}
    loader = dsconv.Loader(path, **options)
    return [flat(batch) for _ in range(2) for batch in loader]


def flat(batch: Any) -> list[Any]:
    """The values of a batch in a row."""
    return torch.utils._pytree.tree_flatten(batch)[0]


def bits(value: Any) -> Any:
    """Floats as integers, of which -0 and 0 differ."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[value.element_size()])


def same(got: list[Any], want: list[Any]) -> None:
    """Checks that batches are equal, bit for bit, also in type and layout."""
    assert len(got) == len(want)
    for a, b in zip(itertools.chain(*got), itertools.chain(*want)):
        if isinstance(b, torch.Tensor):
            assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
            assert torch.equal(bits(a), bits(b))
        else:
            assert a == b
