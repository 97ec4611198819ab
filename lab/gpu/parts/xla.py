"""The Go trainer on XLA: dsconv train --backend xla:cuda, with the plugin of JAX's packages."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import machine
import prepare
from setting import Setting, Skip

RUNS = {"fp32": [], "bf16": ["--precision=bf16"]}


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    variables = plugin()
    dataset = prepare.packed(setting, setting.photos, "resized", "--resize=shorter:256", "--encode=jpeg:90")
    words = ["train", dataset, "--backend=xla:cuda", "--model=cnn", "--epochs=2", "--json"]
    found = {}
    for name, flags in RUNS.items():
        try:
            written = prepare.dsconv(setting, *words, *flags, **variables)
        except RuntimeError as error:
            # JAX loads CUDA's libraries before the plugin; without that the linker must find them.
            if "LD_LIBRARY_PATH" in variables:
                raise
            save(without_library_path=str(error))
            variables["LD_LIBRARY_PATH"] = libraries()
            written = prepare.dsconv(setting, *words, *flags, **variables)
        found[name] = json.loads(written)
        save(**found)
        last = found[name]["epochs"][-1]
        print(f"XLA, {name}: {last['images_per_second']:.0f} images/s, loss {last['train']['loss']:.3f}", flush=True)


def plugin() -> dict[str, str]:
    """The environment variable that names the plugin's folder. Raises Skip if this Python has none."""
    if os.environ.get("PJRT_PLUGIN_LIBRARY_PATH"):
        return {}
    for folder in sys.path:
        for path in sorted(glob.glob(os.path.join(folder, "jax_plugins", "xla_cuda*", "xla_cuda_plugin.so"))):
            return {"PJRT_PLUGIN_LIBRARY_PATH": str(Path(path).parent)}
    raise Skip("this Python has no PJRT plugin for CUDA: pip install 'jax[cuda13]'")


def libraries() -> str:
    """The folders of CUDA's libraries among the Python packages, for the linker."""
    folders = [path for folder in sys.path for path in glob.glob(os.path.join(folder, "nvidia", "*", "lib"))]
    return os.pathsep.join(filter(None, [*folders, os.environ.get("LD_LIBRARY_PATH", "")]))
