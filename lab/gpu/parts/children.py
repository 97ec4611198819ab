"""Checks of the GPU's decoder that need a process of their own: how long it takes to start, opening it twice, leaving
in the middle of an epoch, a GPU whose memory is nearly full."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import prepare
from setting import Setting

SECONDS = 40.0  # for one of them
REST = 700 << 20  # bytes of a GPU's memory that is nearly full
BACKENDS = {"handle": 0, "engine's handle": 3}  # of nvJPEG: NVJPEG_BACKEND_DEFAULT, NVJPEG_BACKEND_HARDWARE


def start(setting: Setting) -> dict:
    """Seconds of what a decoder begins with, in a new process; engines and cores, as nvJPEG counts them."""
    return child(setting, "start")


def run(setting: Setting, torch) -> dict:
    """What the checks found, one after another."""
    prepare.packed(setting, setting.photos, "jpeg")
    torch.cuda.empty_cache()
    return {name: child(setting, name) for name in ("twice", "leave", "full")}


def child(setting: Setting, name: str) -> dict:
    """What a function of this file found in a process of its own, with the seconds of its end."""
    command = [sys.executable, "-m", "parts.children", name, setting.to_json()]
    environment = setting.environment()
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), environment["PYTHONPATH"]])
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS)
    ended = time.time()
    if done.returncode != 0:
        raise RuntimeError(f"{name}: its process ended with code {done.returncode}: {done.stderr.strip()[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return {**found, "exit_seconds": round(ended - found.pop("left"), 3)}


def timed_start(setting: Setting) -> dict:
    """Carries out start."""
    found: dict = {}
    clock = time.perf_counter()

    def lap(name: str, code: int) -> None:
        nonlocal clock
        now = time.perf_counter()
        found[name] = round(now - clock, 4)
        clock = now
        if code != 0:
            raise RuntimeError(f"{name}: code {code}")

    cuda = ctypes.CDLL("libcuda.so.1")
    lap("driver", 0)
    lap("cuInit", cuda.cuInit(0))
    context, handle = ctypes.c_void_p(), ctypes.c_void_p()
    lap("context", cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    cuda.cuCtxPushCurrent_v2(context)
    nvjpeg = ctypes.CDLL(setting.nvjpeg or "libnvjpeg.so.13")
    lap("nvJPEG", 0)
    for name, backend in BACKENDS.items():
        lap(name, nvjpeg.nvjpegCreateEx(backend, None, None, 0, ctypes.byref(handle)))
    engines, cores = ctypes.c_uint(), ctypes.c_uint()
    nvjpeg.nvjpegGetHardwareDecoderInfo(handle, ctypes.byref(engines), ctypes.byref(cores))
    return {"seconds": found, "engines": engines.value, "cores": cores.value}


def loader(setting: Setting):
    import dsconv

    path = prepare.packed(setting, setting.photos, "jpeg")
    return dsconv.Loader(path, 64, "rrc:224,flip", dtype="uint8", **setting.gpu_options())


def few(batches, count: int = 3) -> None:
    """Takes some batches of an epoch, whose rest is given up."""
    for n, _ in enumerate(batches, 1):
        if n == count:
            break


def twice(setting: Setting) -> dict:
    """Opens, decodes and closes twice."""
    import torch

    torch.cuda.synchronize()
    rows = []
    for _ in range(2):
        began = time.perf_counter()
        batches = loader(setting)
        opened = time.perf_counter()
        few(batches)
        decoded = time.perf_counter()
        batches.close()
        times = (opened - began, decoded - opened, time.perf_counter() - decoded)
        row = dict(zip(("open", "three_batches", "close"), (round(t, 3) for t in times)))
        rows.append({**row, "free_bytes": torch.cuda.mem_get_info()[0]})
    return {"turns": rows}


def leave(setting: Setting) -> dict:
    """Ends the process in the middle of an epoch."""
    global kept
    kept = iter(loader(setting))
    next(kept)
    return {}


def full(setting: Setting) -> dict:
    """Decodes while nearly all of the GPU's memory is taken: an error must say so, or the CPU helps."""
    import torch

    hold = torch.empty(max(0, torch.cuda.mem_get_info()[0] - REST), dtype=torch.uint8, device="cuda")
    found = {"held_bytes": hold.numel()}
    try:
        batches = loader(setting)
        few(batches, 5)
        found["decoded"] = batches.stats().get("decoded")
    except Exception as error:
        found["error"] = f"{type(error).__name__}: {error}"
    return found


FUNCTIONS = {"start": timed_start, "twice": twice, "leave": leave, "full": full}

if __name__ == "__main__":
    print(json.dumps({**FUNCTIONS[sys.argv[1]](Setting.from_json(sys.argv[2])), "left": time.time()}), flush=True)
