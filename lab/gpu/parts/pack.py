"""Packing with --decoder gpu beside --decoder cpu: images/s of all photos and of few, and what decoded the images.

From the times of few and of all photos follow the time that a pack takes to start, and the images/s from then on.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path

import machine
import prepare
from setting import Setting

FLAGS = ["--resize=shorter:256", "--encode=jpeg:90", "--json"]
ROUNDS = 3
FEW = 1024


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    counts = sorted({min(FEW, setting.images // 2), setting.images})
    found: dict[str, list[dict]] = {"cpu": [], "gpu": []}
    for _ in range(ROUNDS):
        for (decoder, rounds), count in itertools.product(found.items(), counts):
            rounds.append(packed(setting, decoder, count))
            save(rounds=found)
            print(
                "pack --decoder {decoder}, {images} images: {images_per_second:.0f} images/s, {decoded}".format(
                    decoder=decoder, **rounds[-1]
                ),
                flush=True,
            )
    fitted = {decoder: steady(rounds, *counts) for decoder, rounds in found.items()}
    save(fitted=fitted)
    print(f"pack: {fitted}", flush=True)


def packed(setting: Setting, decoder: str, count: int) -> dict:
    """The figures of a pack of so many images, by the whole command."""
    path = Path(setting.work, f"packed-{decoder}.lmdb")
    prepare.remove(path)
    flags = setting.gpu_flags() if decoder == "gpu" else []
    began = time.perf_counter()
    written = prepare.dsconv(setting, "pack", setting.photos, str(path), *FLAGS, f"--limit={count}", *flags)
    spent = time.perf_counter() - began
    decoded = json.loads(written)["datasets"][0].get("decoded")
    return {"images": count, "images_per_second": count / spent, "seconds": spent, "decoded": decoded}


def steady(rounds: list[dict], few: int, all_of_them: int) -> dict[str, float]:
    """The seconds of the start, and images/s after it, by the fastest packs of both sizes."""
    short, long = (min(r["seconds"] for r in rounds if r["images"] == n) for n in (few, all_of_them))
    each = max(long - short, 1e-9) / (all_of_them - few)
    return {"start_seconds": max(0.0, short - few * each), "images_per_second": 1 / each}
