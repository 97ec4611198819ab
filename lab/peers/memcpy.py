"""The rate at which memory is copied: MEGABYTES THREADS PASSES.

Each thread copies its part of a block into another block by numpy, which calls memcpy and doesn't hold
Python's lock meanwhile. Both blocks are larger than the caches and were written before. For each line of
input every part is copied PASSES times; the answer is a line of JSON: the bytes copied and the seconds.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def main() -> None:
    megabytes, threads, passes = (int(word) for word in sys.argv[1:])
    source, target = (np.full((threads, (megabytes << 20) // threads), value, np.uint8) for value in (1, 2))

    def copy(thread: int) -> None:
        for _ in range(passes):
            np.copyto(target[thread], source[thread])

    with ThreadPoolExecutor(threads) as pool:
        print(json.dumps({"bytes": 0, "seconds": 0}), flush=True)
        for _ in sys.stdin:
            start = time.perf_counter()
            list(pool.map(copy, range(threads)))
            print(json.dumps({"bytes": source.size * passes, "seconds": time.perf_counter() - start}), flush=True)


main()
