"""Packing with --decoder gpu beside --decoder cpu: images/s, and what decoded the images."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import machine
import prepare
from setting import Setting

FLAGS = ["--resize=shorter:256", "--encode=jpeg:90", "--json"]
ROUNDS = 2


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    found: dict[str, list[dict]] = {"cpu": [], "gpu": []}
    for _ in range(ROUNDS):
        for decoder, rounds in found.items():
            path = Path(setting.work, f"packed-{decoder}.lmdb")
            prepare.remove(path)
            flags = setting.gpu_flags() if decoder == "gpu" else []
            began = time.perf_counter()
            written = prepare.dsconv(setting, "pack", setting.photos, str(path), *FLAGS, *flags)
            spent = time.perf_counter() - began
            speed, decoded = setting.images / spent, json.loads(written)["datasets"][0].get("decoded")
            rounds.append({"images_per_second": speed, "seconds": spent, "decoded": decoded})
            save(rounds=found)
            print(f"pack --decoder {decoder}: {speed:.0f} images/s, {decoded}", flush=True)
