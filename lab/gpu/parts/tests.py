"""The tests of python/tests that use a GPU. They need pytest and torch."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import machine
from setting import Setting, Skip

STUCK = 30  # seconds of a test after which its stacks are printed
KEPT = 60000  # characters of the output
NO_TESTS = 5  # exit code of pytest


def run(setting: Setting, save: Callable[..., None]) -> None:
    machine.gpu()
    for module in ("torch", "pytest"):
        if importlib.util.find_spec(module) is None:
            raise Skip(f"{module} is not installed; make gpu-pack EXTRA=pytest brings pytest")
    files = sorted(Path(setting.root, "python", "tests").glob("test_gpu_*.py"))
    if not files:
        raise Skip("there are no python/tests/test_gpu_*.py")
    command = [sys.executable, "-m", "pytest", "-v", "-rs", "-o", f"faulthandler_timeout={STUCK}", *map(str, files)]
    output = ""
    with subprocess.Popen(
        command,
        env=setting.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as tests:
        for line in tests.stdout or ():  # each is kept: this part may be ended in the middle
            output += line
            if " PASSED " not in line:
                print(line, end="", flush=True)
            save(files=[file.name for file in files], output=output[-KEPT:])
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)\b", output)}
    save(counts=counts)
    if tests.returncode == NO_TESTS:
        raise Skip("every test was skipped: result.output says why")
    if tests.returncode != 0:
        raise RuntimeError(f"pytest ended with code {tests.returncode}: {counts}")
