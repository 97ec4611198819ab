"""Measures the memory of processes that load the same dataset, and how long opening it takes in Python.

    scale --small 1000 --large 1000000 --side 16 --min-bytes 700 --max-bytes 1100 --reads 2000 --disk-rounds 0 \
      --dir /tmp/scale --keep
    python processes.py /tmp/scale/lmdb-1000/x.lmdb /tmp/scale/lmdb-1000000/x.lmdb --json processes.json

It needs dsconv's wheel, torch and Pillow. The cases are --processes (8) spawned processes with a `dsconv.Loader` each,
and a `dsconv.Dataset` in a DataLoader with as many workers, forked and spawned. Each process loads an epoch, or
--batches of it; a short epoch is loaded repeatedly, since allocators and garbage collectors take memory for a while.
What all of them have in memory is read at the same moment. `growth` has how much more a process
takes for the last dataset than for the first: the median of all processes, in bytes.

Opening is timed in processes of their own, --opens for each dataset, from the call to the open `Loader` or `Dataset`.
torch and dsconv are imported before. The first one in a process loads the library too.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dsconv
import torch
from dsconv import transforms as T
from torch.utils.data import DataLoader, RandomSampler

BATCH = 64
# A process loads at least so many batches, of several epochs if one is short.
STEADY = 200
SIZES = {
    "pss": "Pss",
    "pss_anonymous": "Pss_Anon",
    "pss_file": "Pss_File",
    "private_dirty": "Private_Dirty",
    "private_clean": "Private_Clean",
    "anonymous": "Anonymous",
    "page_tables": "VmPTE",
}


def main() -> None:
    options = parse()
    if options.open:
        print(json.dumps(opened(options.datasets[0], options.open)))
        return
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="This DataLoader will create")  # more workers than cores
    results = [measure(path, options) for path in options.datasets]
    growth = {
        case: {name: results[-1]["memory"][case]["median"][name] - of["median"][name] for name in SIZES}
        for case, of in results[0]["memory"].items()
    }
    settings = {name: getattr(options, name) for name in ("processes", "batches", "opens", "side")}
    result = {"settings": settings, "datasets": results, "growth": growth}
    report(result)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("datasets", nargs="+", help="the small one first")
    p.add_argument("--processes", type=int, default=8, help="that load at the same time")
    p.add_argument("--batches", type=int, default=0, help="that each process loads; 0 is an epoch")
    p.add_argument("--opens", type=int, default=7, help="processes that only open a dataset")
    p.add_argument("--side", type=int, default=16, help="width and height to crop images to")
    p.add_argument("--json", help="file for the result")
    p.add_argument("--open", choices=["Loader", "Dataset"], help=argparse.SUPPRESS)
    return p.parse_args()


def measure(path: str, options: argparse.Namespace) -> dict[str, Any]:
    samples = len(dsconv.Dataset(path))
    opens: dict[str, list[Any]] = {"Loader": [], "Dataset": []}
    for _ in range(options.opens):
        for what, times in opens.items():
            command = [sys.executable, __file__, path, "--open", what]
            times.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
    cases = {"spawned Loaders": loaders(path, options)}
    for start in ("fork", "spawn"):
        cases[f"Dataset, DataLoader, {start}"] = workers(path, start, options)
    return {"path": path, "samples": samples, "opens": opens, "memory": {name: run(of) for name, of in cases.items()}}


def opened(path: str, what: str) -> dict[str, float]:
    """Opens the dataset twice; the second time, the library is loaded."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        subject = dsconv.Loader(path, BATCH) if what == "Loader" else dsconv.Dataset(path)
        length = len(subject)
        seconds.append(time.perf_counter() - start)
        assert length > 0
        if what == "Dataset":
            subject.close()
        del subject
    return dict(zip(["first_seconds", "again_seconds"], seconds))


def run(case: Any) -> dict[str, Any]:
    """Reads the memory of a case's processes while all of them hold the dataset."""
    start = time.perf_counter()
    with case as (pids, first_batches):
        seconds = time.perf_counter() - start
        each = [memory(pid) for pid in pids]
    total = {name: sum(sizes[name] for sizes in each) for name in SIZES}
    median = {name: int(statistics.median(sizes[name] for sizes in each)) for name in SIZES}
    return {"seconds": seconds, "first_batch_seconds": first_batches, "sum": total, "median": median, "processes": each}


def memory(pid: int) -> dict[str, int]:
    """The memory of a process in bytes; page tables are the kernel's and in no other number."""
    lines = [
        line for name in ("smaps_rollup", "status") for line in Path(f"/proc/{pid}/{name}").read_text().splitlines()
    ]
    sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith(" kB")}
    return {name: 1024 * int(sizes[field]) for name, field in SIZES.items()}


@contextmanager
def loaders(path: str, options: argparse.Namespace) -> Iterator[tuple[list[int], list[float]]]:
    """Processes that have loaded an epoch and keep the Loader."""
    context = multiprocessing.get_context("spawn")
    done, leave = context.SimpleQueue(), context.Event()
    arguments = (path, options.side, options.batches, done, leave)
    children = [context.Process(target=load, args=arguments, daemon=True) for _ in range(options.processes)]
    for child in children:
        child.start()
    try:
        first_batches = [wait(done, children) for _ in children]
        yield [child.pid for child in children if child.pid is not None], first_batches
    finally:
        leave.set()
        for child in children:
            child.join()


def wait(done: Any, children: list[Any]) -> float:
    """Returns what a child says, or raises if one has ended."""
    while done.empty():
        if any(child.exitcode for child in children):
            raise RuntimeError("a process that loads has failed")
        time.sleep(0.05)
    seconds: float = done.get()
    return seconds


def load(path: str, side: int, batches: int, done: Any, leave: Any) -> None:
    torch.set_num_threads(1)
    start = time.perf_counter()
    loader = dsconv.Loader(path, BATCH, T.CenterCrop(side), shuffle=True, seed=0, num_workers=1, pin_memory=False)
    first, loaded = 0.0, 0
    while loaded < (batches or STEADY):
        for _ in loader:
            first, loaded = first or time.perf_counter() - start, loaded + 1
            if loaded == batches:
                break
    done.put(first)
    leave.wait()
    assert len(loader) > 0


class Shrink:
    """What becomes of an image in a worker; a class, since spawned workers get it pickled."""

    def __call__(self, image: Any) -> torch.Tensor:
        return torch.tensor(image.getpixel((0, 0)), dtype=torch.uint8)


@contextmanager
def workers(path: str, start: str, options: argparse.Namespace) -> Iterator[tuple[list[int], list[float]]]:
    """A DataLoader's workers that have read an epoch and wait for the next."""
    dataset = dsconv.Dataset(path, transform=Shrink())
    dataset[0]  # as a program that looks at a sample first: the parent has the dataset open
    samples = min(len(dataset), options.batches * BATCH * options.processes or len(dataset))
    loader = DataLoader(
        dataset,
        BATCH,
        sampler=RandomSampler(dataset, num_samples=samples),
        num_workers=options.processes,
        multiprocessing_context=start,
        persistent_workers=True,
    )
    before = {child.pid for child in multiprocessing.active_children()}
    begin = time.perf_counter()
    first, loaded = 0.0, 0
    while loaded < options.processes * (options.batches or STEADY):
        for _ in loader:
            first, loaded = first or time.perf_counter() - begin, loaded + 1
    pids = [child.pid for child in multiprocessing.active_children() if child.pid not in before]
    assert len(pids) == options.processes
    yield [pid for pid in pids if pid is not None], [first]
    del loader  # ends the workers
    dataset.close()


def report(result: dict[str, Any]) -> None:
    for of in result["datasets"]:
        print(f"{of['path']}: {of['samples']} samples")
        for what, times in of["opens"].items():
            medians = (statistics.median(t[key] for t in times) for key in ("first_seconds", "again_seconds"))
            print("  open {}: {:.1f} ms, again {:.1f} ms".format(what, *(1e3 * seconds for seconds in medians)))
        for case, found in of["memory"].items():
            sizes = ", ".join(f"{name} {found['median'][name] / 1e6:.1f}" for name in SIZES)
            print(f"  {case}: first batch {1e3 * statistics.median(found['first_batch_seconds']):.0f} ms; MB: {sizes}")
    for case, sizes in result["growth"].items():
        print(f"growth, {case}: " + ", ".join(f"{name} {size / 1e6:+.1f} MB" for name, size in sizes.items()))


if __name__ == "__main__":
    main()
