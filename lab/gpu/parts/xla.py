"""The Go trainer on XLA: dsconv train --backend xla:PATH, with the plugin of JAX's packages."""

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


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    path = plugin()
    folder = cuda(path)
    variables = {"XLA_FLAGS": f"--xla_gpu_cuda_data_dir={folder}"} if folder else {}
    dataset = prepare.packed(setting, setting.photos, "resized", "--resize=shorter:256", "--encode=jpeg:90")
    words = ["train", dataset, f"--backend=xla:{path}", "--model=cnn", "--epochs=2", "--json"]
    try:
        written = prepare.dsconv(setting, *words, **variables)
    except RuntimeError as error:
        # JAX loads CUDA's libraries before the plugin; without that the linker must find them.
        save(without_library_path=str(error))
        written = prepare.dsconv(setting, *words, **variables, LD_LIBRARY_PATH=libraries())
    found = json.loads(written)
    save(fp32=found)
    last = found["epochs"][-1]
    print(f"XLA: {last['images_per_second']:.0f} images/s, loss {last['train']['loss']:.3f}", flush=True)


def plugin() -> Path:
    """The path of the plugin. Raises Skip if this Python has none."""
    for folder in sys.path:
        for path in sorted(glob.glob(os.path.join(folder, "jax_plugins", "xla_cuda*", "xla_cuda_plugin.so"))):
            return Path(path)
    raise Skip("this Python has no PJRT plugin for CUDA: pip install 'jax[cuda13]'")


def cuda(plugin: Path) -> Path | None:
    """The folder with CUDA's libdevice that pip put beside the plugin, if there is one."""
    found = sorted((plugin.parents[2] / "nvidia").glob("cu*/nvvm/libdevice"))
    return found[-1].parents[1] if found else None


def libraries() -> str:
    """The folders of CUDA's libraries among the Python packages, for the linker."""
    folders = [path for folder in sys.path for path in glob.glob(os.path.join(folder, "nvidia", "*", "lib"))]
    return os.pathsep.join(filter(None, [*folders, os.environ.get("LD_LIBRARY_PATH", "")]))
