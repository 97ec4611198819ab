"""The first checks of docs/gpu.md: what rates do not show, such as how long the GPU's decoder takes to start, and
whether it waits for a training."""

from __future__ import annotations

import itertools
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

import machine
import prepare
from setting import Setting

from parts import beside, children, decode, loader
from parts.cpu import OPS, rate

BATCH, LARGE = 64, 256
SIZES = (32, 64, 128, 256)  # of batches
PAUSE = 2.0  # seconds after which an engine may have to wake up
FIRST = 10  # batches of an epoch
SIDES = (97, 224, 375)  # of crops from the middle
ODD = ("8x8", "16x16", "63x63", "16384x16")


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    failed: dict[str, str] = {}

    def attempt(name: str, check: Callable[[], object]) -> None:
        """Saves what a check finds. One that fails does not take the others along."""
        began = time.perf_counter()
        try:
            found = check()
        except Exception as error:
            traceback.print_exc()
            failed[name] = f"{type(error).__name__}: {error}"
            return
        save(**{name: found})
        print(f"probe: {name}, {time.perf_counter() - began:.1f} s: {found}", flush=True)

    attempt("start", partial(children.start, setting))
    torch = loader.with_cuda()
    for name, check in CHECKS.items():
        attempt(name, partial(check, setting, torch))
    if failed:
        raise RuntimeError("; ".join(f"{name}: {reason}" for name, reason in failed.items()))


def arrivals(setting: Setting, torch) -> dict:
    """Milliseconds from the start of an epoch until each of its first batches is there. The GPU does nothing else."""
    path = prepare.packed(setting, setting.photos, "jpeg")
    found: dict = {}
    for decoder in ("cpu", "gpu"):
        options = {"shuffle": True, "seed": 1, "dtype": "bfloat16", "memory_format": torch.channels_last}
        with loader.opened(setting, path, LARGE, OPS, decoder, **options) as batches:
            for epoch in ("first", "second", "after a pause"):
                if epoch == "after a pause":
                    time.sleep(PAUSE * min(setting.turn, 1))
                began, times = time.perf_counter(), []
                for _ in itertools.islice(decode.synchronised(batches), FIRST):
                    times.append(round(1e3 * (time.perf_counter() - began), 1))
                found[f"{decoder}, {epoch}"] = times
    return found


def sizes(setting: Setting, torch) -> list[dict]:
    """Images/s and memory by the size of the batches, beside torchvision. The memory is with PyTorch's batches."""
    path = prepare.packed(setting, setting.photos, "jpeg")
    found = []
    for batch in SIZES:
        torch.cuda.empty_cache()
        free = torch.cuda.mem_get_info()[0]
        with loader.opened(setting, path, batch, "resize:224x224", "gpu", dtype="uint8") as batches:
            row = {"batch": batch, "dsconv gpu": rate(decode.synchronised(batches), setting.turn)}
            row["memory_bytes"] = free - torch.cuda.mem_get_info()[0]
        try:
            row.update(decode.torchvision_rates(torch, setting.photos, batch))
        except Exception as error:
            row["torchvision"] = f"{type(error).__name__}: {error}"
        found.append(row)
    return found


def cpu_time(setting: Setting, torch) -> dict:
    """The cores that a process keeps busy which only loads, and its CPU seconds for 1,000 images."""
    path = prepare.packed(setting, setting.photos, "jpeg")
    found = {}
    for decoder in ("cpu", "gpu"):
        with loader.opened(setting, path, LARGE, OPS, decoder) as batches:
            for _ in itertools.islice(batches, 4):
                pass
            wall, cpu, images = time.perf_counter(), time.process_time(), 0
            while time.perf_counter() - wall < 2 * setting.turn:
                images += sum(len(labels) for _, labels in batches)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        found[decoder] = {"images_per_second": images / wall, "cores": cpu / wall, "cpu_s_per_1000": 1e3 * cpu / images}
    return found


def regions(setting: Setting, torch) -> dict:
    """Crops, of which the engine decodes a region: how they differ from the CPU's, inside and at the edges, and from
    the same part of whole images; and images/s with regions of 97 x 97 and with whole images."""
    path, found = prepare.packed(setting, setting.photos, "jpeg"), {}
    alike = prepare.packed(setting, few(setting), "jpeg")

    def pixels(ops: str, decoder: str):
        with loader.opened(setting, alike, decode.FEW, ops, decoder, dtype="uint8") as batches:
            return next(iter(batches))[0].cpu().int()

    whole = pixels("resize:500x375", "gpu")
    height, width = whole.shape[-2:]
    for side in SIDES:
        crop, ours = pixels(f"centercrop:{side}", "cpu"), pixels(f"centercrop:{side}", "gpu")
        gap = (crop - ours).abs()
        y, x = round((height - side) / 2), round((width - side) / 2)
        same = whole[..., y : y + side, x : x + side]
        found[str(side)] = {
            "largest_difference_inside": int(gap[..., 2:-2, 2:-2].max()),
            "largest_difference_at_the_edges": int(gap.max()),
            "largest_difference_from_the_whole": int((ours - same).abs().max()),
        }
    for name, ops in (("region", "centercrop:97"), ("whole", "resize:97x97")):
        with loader.opened(setting, path, BATCH, ops, "gpu", dtype="uint8") as batches:
            found[f"{name}, images/s"] = rate(decode.synchronised(batches), setting.turn)
    return found


def odd_sizes(setting: Setting, torch) -> dict:
    """Images of few pixels, or very wide: `not written` must not be among the reasons."""
    found = {}
    for size in ODD:
        flags = ["--encode=jpeg:90:420", "--no-tile", f"--resize=exact:{size}"]
        source = prepare.packed(setting, few(setting), f"odd-{size}", *flags)
        found[size] = decode.differences(setting, source, [])
        if "not written" in (found[size]["decoded"] or {}).get("reasons", {}):
            raise RuntimeError(f"{size}: pixels were not written: {found[size]}")
    return found


def few(setting: Setting) -> str:
    """Photos of 500 x 375, whatever size the others have."""
    return str(prepare.photos(setting.command, Path(setting.work), min(decode.FEW, setting.images), "500x375"))


# In the order in which they are worth their time.
CHECKS: dict[str, Callable[[Setting, object], object]] = {
    "arrivals": arrivals,
    "batch_sizes": sizes,
    "cpu_time": cpu_time,
    "beside_a_training": beside.rates,
    "pixels_beside_a_training": beside.pixels,
    "regions": regions,
    "processes": children.run,
    "odd_sizes": odd_sizes,
}
