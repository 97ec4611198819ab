"""The process of another tool's loader, which reads epochs at each request.

    peer.py LOADER IMAGES SCRATCH WORKERS EPOCHS

LOADER is for example pytorch.image_folder. For each line of its input, it reads one epoch that is not counted, then
EPOCHS epochs that are timed, and answers with a line of JSON: their images and seconds.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path


def main(name: str, images: str, scratch: str, workers: str, epochs: str) -> None:
    # Output of a library goes to stderr, so that stdout has only the answers.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        module, function = name.split(".")
        make = getattr(importlib.import_module(f"loaders.{module}"), function)
        epoch = make(Path(images), Path(scratch), int(workers))
        epoch()  # starts the workers and warms up
        answer(answers, images=0, seconds=0.0)
        for _ in sys.stdin:
            epoch()  # warms up again: the process was stopped since the last turn
            times = [epoch() for _ in range(int(epochs))]
            answer(answers, images=sum(n for n, _ in times), seconds=sum(t for _, t in times))


def answer(to, **values: float) -> None:
    print(json.dumps(values), file=to, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
