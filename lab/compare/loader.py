"""Times epochs of a dsconv.Loader after a first one: DATASET, what to do (photo, small, raw), workers."""

from __future__ import annotations

import json
import sys
import time

from dsconv import Loader
from dsconv import transforms as T

CROPS = {"photo": (T.RandomResizedCrop(224), 2), "small": (T.RandomCrop(56), 5), "raw": (T.RandomCrop(224), 10)}


def main() -> None:
    path, work, workers = sys.argv[1:]
    crop, epochs = CROPS[work]
    ops = T.Compose([crop, T.RandomHorizontalFlip()])
    loader = Loader(path, 64, ops, shuffle=True, seed=0, num_workers=int(workers), pin_memory=False, strict=True)
    for _ in loader:
        pass
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(epochs):
        for _ in loader:
            pass
    print(json.dumps({"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}))


main()
