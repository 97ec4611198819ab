"""Describes the machine: card, driver and versions, without names that identify it."""

from __future__ import annotations

import ctypes
import importlib.metadata
import json
import os
import platform
import subprocess
import sys

from setting import Setting, Skip

LIBRARIES = ("dsconv", "numpy", "torch", "torchvision", "pillow", "jax", "jaxlib", "jax-cuda13-pjrt", "nvidia-nvjpeg")


def describe(setting: Setting) -> dict:
    """What the results depend on. The GPU is asked in a process of its own: a broken driver may hang or crash."""
    command = [sys.executable, __file__]
    try:
        done = subprocess.run(command, env=setting.environment(), capture_output=True, text=True, timeout=60)
        found = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        found = {"gpu": None, "missing": f"the driver does not answer: {type(error).__name__}"}
    return {**found, "commit": commit(setting.root)}


def here() -> dict:
    """The description, with a GPU's under "gpu", else None there and under "missing" what is missing."""
    found: dict = {"cores": usable_cores(), "python": platform.python_version(), "versions": versions()}
    try:
        found["gpu"] = gpu()
    except Skip as reason:
        found.update(gpu=None, missing=str(reason))
    return found


def gpu() -> dict:
    """The first GPU, by its driver. Raises Skip if there is none."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise Skip("no GPU: there is no libcuda.so.1, which NVIDIA's driver brings") from None
    code = cuda.cuInit(0)
    count = ctypes.c_int()
    if code == 0:
        code = cuda.cuDeviceGetCount(ctypes.byref(count))
    if code != 0 or count.value == 0:
        raise Skip(f"no GPU: the driver is there and finds none (code {code})")
    driver, name, memory = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_size_t()
    cuda.cuDriverGetVersion(ctypes.byref(driver))
    cuda.cuDeviceGetName(name, len(name), 0)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), 0)
    numbers = []
    for attribute in (75, 76):  # compute capability, major and minor
        number = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(number), attribute, 0)
        numbers.append(str(number.value))
    return {
        "name": name.value.decode(errors="replace"),
        "count": count.value,
        "compute_capability": ".".join(numbers),
        "memory_bytes": memory.value,
        "cuda_of_driver": f"{driver.value // 1000}.{driver.value % 1000 // 10}",
        "driver": driver_release(),
    }


def driver_release() -> str:
    """The release of the driver, such as 580.65.06; "" if it is unknown."""
    try:
        with open("/sys/module/nvidia/version", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def commit(root: str) -> str:
    """The commit of the wheel, as make gpu-pack wrote it, else of the tree, as git says; "" if neither does.

    git comes second: a copy of the repository may have a .git that is older than the wheel.
    """
    try:
        with open(os.path.join(root, "build", "gpu", "commit"), encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        pass  # not packed
    try:
        if os.path.exists(os.path.join(root, ".git")):
            done = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True)
            return done.stdout.strip()
    except OSError:
        pass  # no git here
    return ""


def text(found: dict) -> str:
    """The description in a line."""
    card = found["gpu"]
    first = f"{card['name']}, driver {card['driver'] or card['cuda_of_driver']}" if card else found["missing"]
    listed = ", ".join(f"{name} {version}" for name, version in found.get("versions", {}).items())
    return f"{first}; {found.get('cores', '?')} cores; {listed}"


if __name__ == "__main__":
    print(json.dumps(here()))
