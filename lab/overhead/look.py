"""What looking into a DataLoader costs: epochs of dsconv.timed with its timers beside epochs without, in turns.

    python look.py [--rounds 21] [--workers 2] [--limit 2] [--json FILE] FOLDER

It compares the time of an epoch and the CPU time of this process with its workers, each as the median of the rounds'
ratios, with their quartiles. The exit code is 1 if looking takes more than the limit, in percent, of both: one of them
alone may be another program."""

import argparse
import json
import resource
import statistics
import sys
import time
from pathlib import Path

import dsconv
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder


def cpu_seconds():
    """Of this process and the workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def epoch(loader, look):
    """The seconds and the CPU seconds of an epoch."""
    timed = dsconv.timed(loader, look=look)
    cpu, start = cpu_seconds(), time.perf_counter()
    for _ in timed:
        pass
    return time.perf_counter() - start, cpu_seconds() - cpu


def quartiles(ratios):
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return {"low": low, "median": middle, "high": high}


def percent(spread):
    median, low, high = (100 * (spread[name] - 1) for name in ("median", "low", "high"))
    return f"{median:+.2f} % (quartiles {low:+.2f} and {high:+.2f})"


def main():
    parser = argparse.ArgumentParser(description="What looking into a DataLoader costs.")
    parser.add_argument("folder", help="images in a folder for each class")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=2, help="percent that looking may take")
    parser.add_argument("--json", help="write the result to this file")
    asked = parser.parse_args()
    tensors = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor()]
    dataset = ImageFolder(asked.folder, transforms.Compose(tensors))
    loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=asked.workers)
    epoch(loader, look=False)  # warms up the page cache
    turns = {True: [], False: []}
    for number in range(asked.rounds):
        for look in (True, False) if number % 2 else (False, True):
            turns[look].append(epoch(loader, look))
    seconds, cpu = ([a[k] / b[k] for a, b in zip(turns[True], turns[False])] for k in (0, 1))
    result = {
        "options": {"folder": Path(asked.folder).name, "rounds": asked.rounds, "workers": asked.workers},
        "looked": turns[True],
        "plain": turns[False],
        "seconds_ratio": quartiles(seconds),
        "cpu_ratio": quartiles(cpu),
    }
    time_text, cpu_text = percent(result["seconds_ratio"]), percent(result["cpu_ratio"])
    print(f"{asked.rounds} rounds: looking changes the epoch by {time_text}, the CPU time by {cpu_text}")
    if asked.json:
        Path(asked.json).write_text(json.dumps(result, indent=2) + "\n")
    within = min(result["seconds_ratio"]["median"], result["cpu_ratio"]["median"]) - 1 <= asked.limit / 100
    sys.exit(0 if within else f"looking takes more than {asked.limit:g} %")


if __name__ == "__main__":
    main()
