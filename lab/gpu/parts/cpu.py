"""CPU loading: images/s of a Loader with 1 to 16 threads, which take turns. It needs no GPU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import closing

import prepare
from setting import Setting

THREADS = (1, 2, 4, 8, 16)
ROUNDS = 3
LIMIT = 30.0  # no round starts after so many seconds
OPS = "rrc:224,flip,normalize"


def run(setting: Setting, save: Callable[..., None]) -> None:
    import dsconv

    datasets = {
        "jpeg": prepare.packed(setting, setting.photos, "jpeg"),
        "resized": prepare.packed(setting, setting.photos, "resized", "--resize=shorter:256", "--encode=jpeg:90"),
    }
    rates: dict[str, dict[str, list[float]]] = {name: {str(n): [] for n in THREADS} for name in datasets}
    began = time.perf_counter()
    for _ in range(ROUNDS):
        if time.perf_counter() - began > LIMIT:
            break
        for name, path in datasets.items():
            for threads in THREADS:
                with closing(dsconv.Loader(path, 64, OPS, shuffle=True, seed=0, num_workers=threads)) as loader:
                    rates[name][str(threads)].append(rate(loader, setting.turn))
        medians = {name: {n: round(statistics.median(r), 1) for n, r in of.items()} for name, of in rates.items()}
        save(images_per_second=medians, rounds=rates)
    for name, of in medians.items():
        print(f"CPU loading, {name}: " + ", ".join(f"{n} threads {r:.0f}/s" for n, r in of.items()), flush=True)


def rate(batches, seconds: float) -> float:
    """Images/s of epochs, for so many seconds. An epoch's first two batches, which may be a burst, do not count."""
    images, spent = 0, 0.0
    while spent < seconds:
        iterator = iter(batches)
        for _ in range(min(2, len(batches) - 1)):
            next(iterator)
        began = time.perf_counter()
        for _, labels in iterator:
            images += len(labels)
            if spent + time.perf_counter() - began > seconds:
                break
        spent += time.perf_counter() - began
    return images / spent
