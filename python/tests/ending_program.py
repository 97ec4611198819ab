"""Leaves everything of dsconv's alive until the interpreter ends, in a place that lives long: DATASET PLACE."""

from __future__ import annotations

import codecs
import importlib
import os
import signal
import sys
import threading
import time

import dsconv
import numpy as np
from dsconv import transforms as T

path, place = sys.argv[1:]
if place == "torch":
    import torch  # noqa: F401

loader = dsconv.Loader(path, batch_size=5, transforms="resize:16x16")
# A function of this file would keep all of it, in a circle that nothing ends.
in_python = dsconv.Loader(path, batch_size=5, transforms=np.asarray, num_workers=2)
dataset = dsconv.Dataset(path, fields=("label", "key"))
resize = T.Resize(16)
resize(np.zeros((32, 32, 3), np.uint8))
begun = [iter(loader), iter(in_python)]
batches = [next(iterator) for iterator in begun]
everything = (loader, in_python, dataset, dataset[0], dataset.targets, resize, begun, batches)


def keep(*_: object, kept: object = everything) -> None:
    """Keeps everything while a function is kept."""


if place == "codecs":
    codecs.register(keep)
elif place == "signal":
    signal.signal(signal.SIGUSR1, keep)
elif place == "thread":
    threading.Thread(target=lambda kept=everything: time.sleep(3600), daemon=True).start()
elif place == "looping":  # a daemon thread is in the middle of an epoch

    def loop() -> None:
        while True:
            for _ in loader:
                pass

    threading.Thread(target=loop, daemon=True).start()
elif place == "fork":
    os.kept = everything  # type: ignore[attr-defined]
    child = os.fork()
    if child == 0:
        everything += (dataset[1], list(loader))
    else:
        assert os.waitpid(child, 0)[1] == 0
elif place != "globals":
    importlib.import_module(place).kept = everything  # type: ignore[attr-defined]
