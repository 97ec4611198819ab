"""Loader on a GPU: bytes to the device and normalisation there, compared with the CPU's batches, and timed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import closing

import machine
import prepare
from setting import Setting, Skip

from parts.cpu import OPS, rate

DTYPES = ("float32", "float16", "bfloat16")
BATCHES = 8
DEVICE = "cuda"


def run(setting: Setting, save: Callable[..., None]) -> None:
    torch = with_cuda()
    path = prepare.packed(setting, setting.photos, "jpeg")
    compared = []
    for dtype, channels_last, place in itertools.product(DTYPES, (False, True), (None, "device")):
        layout = torch.channels_last if channels_last else None
        here = {"dtype": dtype, "channels_last": channels_last, "normalize": place or "host"}
        compared.append({**here, **compare(torch, path, dtype, layout, place)})
        print(f"loader: {compared[-1]}", flush=True)
        save(compared=compared)
    raw = prepare.packed(setting, setting.photos, "raw", "--resize=cover:224x224", "--encode=raw")
    rates = {}
    for place in (None, "device"):
        options = {"normalize": place} if place else {}
        with closing(loader(raw, DEVICE, "flip,normalize", **options)) as batches:
            rates[place or "host"] = rate(batches, setting.turn)
        save(raw_images_per_second=rates)
    print(f"loader: raw images of 224 x 224 to the GPU, images/s: {rates}", flush=True)
    worst = max(figures["roundings"] for figures in compared)
    if worst > 1:
        raise RuntimeError(f"a batch on the GPU differs from the CPU's by {worst} roundings")


def with_cuda():
    """torch. Raises Skip without it or without a GPU."""
    machine.gpu()
    try:
        import torch
    except ImportError:
        raise Skip("torch is not installed") from None
    if not torch.cuda.is_available():
        raise Skip("torch finds no GPU: this build of it may be for the CPU")
    return torch


def loader(path: str, device: str | None, ops: str = OPS, **options: object):
    import dsconv

    return dsconv.Loader(path, 64, ops, shuffle=True, seed=1, device=device, **options)


def compare(torch, path: str, dtype: str, layout, place: str | None) -> dict:
    """How the first batches differ from those on the CPU in float32, in units of the type's rounding."""
    options = {"normalize": place} if place else {}
    worst = equal = count = 0.0
    ours = loader(path, DEVICE, dtype=dtype, memory_format=layout, **options)
    with closing(loader(path, None)) as expected, closing(ours):
        for (want, labels), (got, same) in itertools.islice(zip(expected, ours), BATCHES):
            assert got.device.type == DEVICE and got.dtype == getattr(torch, dtype) and torch.equal(labels, same.cpu())
            assert layout is None or got.is_contiguous(memory_format=layout)
            exact, found = want.double(), got.cpu().double()
            unit = torch.finfo(got.dtype).eps * exact.abs().clamp(min=torch.finfo(got.dtype).tiny)
            worst = max(worst, ((found - exact).abs() / unit).max().item())
            equal += (got.cpu() == want.to(got.dtype)).double().sum().item()
            count += want.numel()
    return {"roundings": worst, "equal_share": equal / count, "values": int(count)}


def opened(setting: Setting, path: str, batch: int, ops: str, decoder: str, **options: object):
    """A Loader whose batches are on the GPU, whatever decodes them, for a with statement."""
    import dsconv

    where = setting.gpu_options() if decoder == "gpu" else {"device": DEVICE}
    return closing(dsconv.Loader(path, batch, ops, **{**where, **options}))
