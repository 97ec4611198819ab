"""Runs a scenario of decoder="gpu" on fakes: decoding_program.py SCENARIO DATASET. test_decoding_on_fakes.py runs it in
processes whose environment names the fake driver."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from typing import Any
from unittest import mock

import dsconv
import fake_decoding
import torch
from device_pipelines import NORMALIZE, PIPELINES, flat, same

CARD = fake_decoding.FakeDecoding
OPTIONS: dict[str, Any] = {"batch_size": 7, "shuffle": True, "seed": 5, "num_workers": 2}


def host(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.is_cuda:
        stride, read = value.stride(), value.cpu()
        return torch.empty_strided(read.shape, stride, dtype=read.dtype).copy_(read)
    return value


def seen(fake: CARD, path: str, **options: Any) -> list[list[Any]]:
    """The batches of two epochs that the GPU decoded."""
    loader = dsconv.Loader(path, **{**OPTIONS, "decoder": "gpu", **options})
    batches = []
    for _ in range(2):
        for batch in loader:
            assert all(v.is_cuda for v in flat(batch) if isinstance(v, torch.Tensor))
            batches.append([host(value) for value in flat(batch)])
            del batch
    loader.close()
    gc.collect()
    assert fake.alive == 0, "tensors whose memory was not given back"
    return batches


def wanted(fake: CARD, path: str, **options: Any) -> list[list[Any]]:
    with fake.own():
        loader = dsconv.Loader(path, **{**OPTIONS, **options, "pin_memory": False})
        return [flat(batch) for _ in range(2) for batch in loader]


def equal(fake: CARD, path: str) -> None:
    """Images are the CPU's, whatever the transforms, type and layout."""
    for words in PIPELINES.values():
        for dtype, layout in (("float32", None), ("float16", torch.channels_last)):
            options = {"transforms": words, "dtype": dtype, "memory_format": layout}
            same(seen(fake, path, **options), wanted(fake, path, **options))
    options = {"transforms": "rrc:32,flip"}
    same(seen(fake, path, **options), wanted(fake, path, **options))


def arguments(fake: CARD, path: str) -> None:
    """The Loader's other arguments keep their meaning."""
    for options in (
        {"views": [f"{NORMALIZE},erase:0.5", "rrc:16,flip,normalize"]},
        {"views": ["rrc:32,flip", "rrc:16,vflip"]},
        {"fields": ("key", "label", "image", "index")},
        {"tail": "uneven", "rank": 1, "world_size": 3},
        {"sampler": list(range(40, 3, -1)), "shuffle": False},
        {"batch_sampler": [[3, 4], [1, 2, 0, 7, 9, 9], [5]], "batch_size": None, "shuffle": False},
        {"num_workers": 0},
        {"indices": [7, 3, 9, 40, 11, 2, 1, 0]},
        {"normalize": "device"},
        {"color": "gray", "transforms": "rrc:32,flip,normalize:0.4:0.3"},
        {"device": "cuda:0", "batch_size": 1, "target_transform": float},
    ):
        chosen = options if "views" in options else {"transforms": NORMALIZE, **options}
        on_cpu = {name: value for name, value in chosen.items() if name not in ("device", "normalize")}
        same(seen(fake, path, **chosen), wanted(fake, path, **on_cpu))


def kept(fake: CARD, path: str) -> None:
    """Batches that the loop keeps stay; what it drops is used again; a loop may end early; epochs resume."""
    loader = dsconv.Loader(path, **OPTIONS, transforms=NORMALIZE, decoder="gpu")
    batches = [images for images, _ in loader]
    before = [images.cpu() for images in batches]
    for _ in loader:
        pass
    assert all(torch.equal(images.cpu(), values) for images, values in zip(batches, before))
    resumed = dsconv.Loader(path, **OPTIONS, transforms=NORMALIZE, decoder="gpu")
    epoch = iter(loader)
    next(epoch), next(epoch)
    resumed.load_state_dict(loader.state_dict())
    rest = [host(images) for images, _ in resumed]
    assert len(rest) == 5 and all(torch.equal(a, host(b)) for a, (b, _) in zip(rest, epoch))
    next(iter(loader))
    del batches, epoch, _
    loader.close(), resumed.close()
    gc.collect()
    assert fake.alive == 0


def counts(fake: CARD, path: str) -> None:
    """stats() counts what decoded the images."""
    loader = dsconv.Loader(path, **OPTIONS, transforms=NORMALIZE, decoder="gpu", on_error="skip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in loader:
            pass
    stats = loader.stats()
    assert set(stats) == {"clock", "bad", "decoded"} and stats["bad"] == loader.bad()
    print(stats["decoded"], stats["bad"]["times"])


def equal_or_bad(fake: CARD, path: str) -> None:
    """With on_error="skip" the GPU's bad samples are the CPU's."""
    warnings.simplefilter("ignore")
    options = {"transforms": NORMALIZE, "on_error": "skip", "num_workers": 1}
    same(seen(fake, path, **options), wanted(fake, path, **options))


def fails(fake: CARD, path: str) -> None:
    """Prints the error of an epoch."""
    try:
        for _ in dsconv.Loader(path, **OPTIONS, transforms=NORMALIZE, decoder="gpu", nvjpeg=os.environ.get("NVJPEG")):
            pass
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


def chosen(fake: CARD, path: str) -> None:
    """A GPU that is chosen after the Loader was made decodes its epochs, and those of threads that chose none too."""
    loader = dsconv.Loader(path, **OPTIONS, transforms=NORMALIZE, decoder="gpu")
    named = dsconv.Loader(path, **OPTIONS, transforms=NORMALIZE, decoder="gpu", device="cuda:0")
    with mock.patch.multiple(torch.cuda, current_device=lambda: 1, device_count=lambda: 2):
        first = [host(images) for images, _ in loader]
        iter(named)
    assert loader.device == torch.device("cuda", 1) and named.device == torch.device("cuda", 0)
    iter(loader)
    assert loader._source.gpu == 1 and named._source.gpu == 0
    assert all(torch.equal(a, b) for a, (b, _) in zip(first, wanted(fake, path, transforms=NORMALIZE)[:7]))


def forked(fake: CARD, path: str) -> None:
    """A process that was forked gets an error, and its parent goes on."""
    loader = dsconv.Loader(path, **OPTIONS, transforms=NORMALIZE, decoder="gpu")
    next(iter(loader))
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            next(iter(loader))
        except Exception as error:
            os.write(1, f"{type(error).__name__}: {error}\n".encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert len(list(loader)) == 7


if __name__ == "__main__":
    torch.set_num_threads(1)
    with fake_decoding.FakeDecoding() as card:
        globals()[sys.argv[1]](card, sys.argv[2])
