"""The Go trainer on XLA: dsconv train --backend xla:cuda, with the plugin of JAX's packages."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import machine
import prepare
from setting import Setting

RUNS = {"fp32": [], "bf16": ["--precision=bf16"]}


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    dataset = prepare.packed(setting, setting.photos, "resized", "--resize=shorter:256", "--encode=jpeg:90")
    words = ["train", dataset, "--backend=xla:cuda", "--model=cnn", "--epochs=2", "--json"]
    plugin = os.environ.get("DSCONV_XLA_PLUGIN", "")
    if plugin:
        words[2] = f"--backend=xla:{plugin}"
    found = {}
    for name, flags in RUNS.items():
        found[name] = json.loads(prepare.dsconv(setting, *words, *flags))
        save(**found)
        last = found[name]["epochs"][-1]
        print(f"XLA, {name}: {last['images_per_second']:.0f} images/s, loss {last['train']['loss']:.3f}", flush=True)
