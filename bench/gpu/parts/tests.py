"""The tests of python/tests that use a GPU. They need pytest."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import machine
from setting import Setting, Skip


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    if importlib.util.find_spec("pytest") is None:
        raise Skip("pytest is not installed; make gpu-pack EXTRA=pytest brings it")
    files = sorted(Path(setting.root, "python", "tests").glob("test_gpu_*.py"))
    if not files:
        raise Skip("there are no python/tests/test_gpu_*.py")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", *map(str, files)]
    done = subprocess.run(command, env=setting.environment(), capture_output=True, text=True)
    print(done.stdout[-6000:], flush=True)
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)\b", done.stdout)}
    save(files=[file.name for file in files], counts=counts, output=done.stdout[-20000:])
    if done.returncode != 0:
        raise RuntimeError(f"pytest ended with code {done.returncode}: {counts}")
