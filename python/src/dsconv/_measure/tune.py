"""Finds the settings with which a user's DataLoader is fastest on this machine, without changing its samples."""

from __future__ import annotations

import math
import os
import shutil
import statistics
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader

from dsconv._errors import ArgumentError
from dsconv._short_messages import short_message

from .passes import Pass, kept_states, run
from .rebuild import CannotRebuild, rebuilt, settings
from .rows import SETTINGS
from .surroundings import cores, text
from .turns import Plan, batch_bytes

# A setting is better if it saves more of the epoch than this; less is noise.
MARGIN = 0.03
_SECONDS, _MOST_EPOCHS = 1.0, 5  # of a trial, of which there are several if they are short
_BATCHES = 3  # of each worker, at least, that are measured
_MOST_WORKERS = 8  # for each core: a slow disk keeps that many busy
_MEMORY_SHARE = 0.8  # of the memory that is free, which a setting may take
_BY_DEFAULT = 2  # torch's prefetch_factor
# The limit of a control group's memory, and what it has; of both versions.
_GROUPS = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))


@dataclass(frozen=True)
class Trial:
    """What a DataLoader did with its settings: the seconds of an epoch, images/s, the bytes of memory that its workers
    took, and those of a batch."""

    settings: dict[str, Any]
    epoch_seconds: float
    images_per_second: float = 0.0
    memory: int = 0
    batch_bytes: int = 0


Measure = Callable[[DataLoader[Any]], Trial]
OnTrial = Callable[[str, Trial], None]  # called with the settings that were tried


@dataclass(frozen=True)
class Tuned:
    """The settings that differ from the user's (empty if these are the best), the number of those that were tried, and
    why others were not."""

    changes: dict[str, Any]
    tried: int
    refused: dict[str, str]

    @property
    def command(self) -> str:
        """The changes as arguments of DataLoader; "" for none."""
        return arguments(self.changes)


class Meter:
    """Measures DataLoaders, all with the loop of a plan, for about a second each: what is left of a whole epoch is as
    fast as what was measured. All trials are of as many images as the first."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._images = plan, 0.0

    def __call__(self, loader: DataLoader[Any]) -> Trial:
        low, size = (free := available()), 0

        def step(batch: Any) -> None:
            nonlocal low, size
            low, size = min(low, available()), size or batch_bytes(batch)
            if self._plan.step is not None:
                self._plan.step(batch)

        workers, epochs = max(1, loader.num_workers), list[Pass]()
        with kept_states(loader), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about settings that are only tried
            try:
                run(loader, 2 * workers, step, self._plan.transfer)  # workers that stay are there then
                while not epochs or sum(p.seconds for p in epochs) < _SECONDS and len(epochs) < _MOST_EPOCHS:
                    least = _BATCHES * workers
                    epochs.append(run(loader, None, step, self._plan.transfer, seconds=_SECONDS, least=least))
            finally:
                loader._iterator = None  # ends workers that stay
            first = epochs[0]
            if not first.count:
                raise ArgumentError("the DataLoader gave no batch")
            try:
                whole = first.images if first.ended else len(loader) * first.images / first.count
            except (TypeError, NotImplementedError):  # it does not know
                whole = first.images
        self._images = self._images or whole
        left = ((self._images - p.images) * (p.per_image(workers) or p.seconds / p.images) for p in epochs)
        seconds = statistics.median(max(1e-9, p.seconds + more) for p, more in zip(epochs, left))
        return Trial(settings(loader), seconds, self._images / seconds, max(0, free - low), size)


def tune(loader: DataLoader[Any], measure: Measure, on_trial: OnTrial | None = None, cores: int = 0) -> Tuned:
    """Tries numbers of workers, then prefetch_factor, persistent_workers and pin_memory. Each search ends when the next
    value is no better. cores are those that this process may use; 0: finds out.

    Raises CannotRebuild if the DataLoader cannot be rebuilt, and whatever the user's own settings raise.
    """
    search = Search(loader, measure, on_trial)
    own = search.trial()
    if own is None:
        raise CannotRebuild(next(iter(search.refused.values())))
    _climb(search, cores or share_of_cores())
    _refine(search)
    best = search.fastest()
    changes = {name: best.settings[name] for name in SETTINGS if best.settings[name] != own.settings[name]}
    if (best.settings["prefetch_factor"] or _BY_DEFAULT) == (own.settings["prefetch_factor"] or _BY_DEFAULT):
        changes.pop("prefetch_factor", None)  # a default need not be written
    if own.epoch_seconds * (1 - MARGIN) <= best.epoch_seconds:
        changes = {}
    return Tuned(changes, len(search.tried), search.refused)


class Search:
    """Measures settings once each, and remembers those that cannot be measured."""

    def __init__(self, loader: DataLoader[Any], measure: Measure, on_trial: OnTrial | None) -> None:
        self.loader, self.measure, self.on_trial = loader, measure, on_trial
        self.tried: dict[tuple[Any, ...], Trial] = {}
        self.refused: dict[str, str] = {}

    def trial(self, **changes: Any) -> Trial | None:
        """The trial of loader with changes; None if it cannot have them, and `refused` says why."""
        try:
            candidate = rebuilt(self.loader, **changes)
            key = tuple(settings(candidate).values())
            if key not in self.tried:
                _check_memory(settings(candidate), list(self.tried.values()))
                self.tried[key] = self.measure(candidate)
                if self.on_trial is not None:
                    self.on_trial(arguments(changes), self.tried[key])
            return self.tried[key]
        except CannotRebuild as err:
            self.refused[arguments(changes)] = str(err)
        except Exception as err:  # such as a dataset that workers cannot receive
            if not self.tried:
                raise  # the user's own settings
            self.refused[arguments(changes)] = f"it fails: {type(err).__name__}: {short_message(err)}"
        return None

    def seconds(self, **changes: Any) -> float:
        """Those of the trial's epoch; infinity if there is none."""
        trial = self.trial(**changes)
        return math.inf if trial is None else trial.epoch_seconds

    def fastest(self) -> Trial:
        """The fastest settings; among those as fast, within MARGIN, the ones with the fewest workers and the most like
        the user's."""
        best = min(t.epoch_seconds for t in self.tried.values())
        own = settings(self.loader)

        def cost(trial: Trial) -> tuple[Any, ...]:
            changed = sum(trial.settings[name] != own[name] for name in SETTINGS)
            return trial.settings["num_workers"], trial.settings["prefetch_factor"] or 0, changed

        return min((t for t in self.tried.values() if t.epoch_seconds * (1 - MARGIN) <= best), key=cost)


def _climb(search: Search, cores: int) -> None:
    """Tries numbers of workers from the number of cores upwards while they are faster; if more are not, downwards while
    fewer are as fast; and none."""

    def tried(count: int) -> float:
        """Workers are kept between epochs where that is possible, so that their start does not hide what they do;
        `_refine` asks whether that is needed."""
        seconds = search.seconds(num_workers=count, persistent_workers=True)
        return seconds if math.isfinite(seconds) else search.seconds(num_workers=count)

    counts = {0, search.loader.num_workers, cores * 3 // 2, *(cores >> k for k in range(cores.bit_length()))}
    counts |= {cores * more for more in (2, 4, _MOST_WORKERS)}
    best, more_are_faster = tried(cores), False
    for count in sorted(n for n in counts if n > cores):
        seconds = tried(count) if math.isfinite(best) else math.inf
        if math.isinf(seconds) or seconds > best * (1 - MARGIN):
            break
        best, more_are_faster = seconds, True
    for count in sorted((n for n in counts if 0 < n < cores and not more_are_faster), reverse=True):
        seconds = tried(count)
        if seconds > best * (1 + MARGIN):
            break
        best = min(best, seconds)
    search.trial(num_workers=0)


def _refine(search: Search) -> None:
    """Tries to prefetch more, not to keep the workers unless the user does, and to pin."""
    best = search.fastest()
    seconds = best.epoch_seconds
    for factor in (2 * _BY_DEFAULT, 4 * _BY_DEFAULT) if best.settings["num_workers"] else ():
        before, seconds = seconds, search.seconds(**{**best.settings, "prefetch_factor": factor})
        if seconds > before * (1 - MARGIN):
            break
    best = search.fastest()
    if best.settings["persistent_workers"] and not search.loader.persistent_workers:
        search.trial(**{**best.settings, "persistent_workers": False})
    if not torch.cuda.is_available():
        search.refused["pin_memory"] = "there is no GPU to copy to"
        return
    best = search.fastest()
    search.trial(**{**best.settings, "pin_memory": not best.settings["pin_memory"]})


def _check_memory(new: dict[str, Any], tried: list[Trial]) -> None:
    """Raises CannotRebuild if settings need more memory than is free, judged by the last trial with workers."""
    known = next((t for t in reversed(tried) if t.settings["num_workers"]), None)
    if known is None or not (workers := new["num_workers"]):
        return
    queued = (workers * (new["prefetch_factor"] + 1) + 1) * known.batch_bytes
    for what, size, free in (
        ("memory", known.memory * workers // known.settings["num_workers"], available()),
        ("/dev/shm", queued, shared_available()),  # in which workers pass their batches
    ):
        if free and size > _MEMORY_SHARE * free:
            raise CannotRebuild(f"it would take {size / 1e6:.0f} MB of {what}, and {free / 1e6:.0f} MB are free")


def share_of_cores() -> int:
    """Whole cores for each process of this training on the machine, at least one. torchrun says how many there are."""
    return max(1, int(cores()) // int(os.environ.get("LOCAL_WORLD_SIZE") or 1))


def available() -> int:
    """Bytes that processes may still take, of the machine or of this control group; 0 if it is unknown."""
    lines = text("/proc/meminfo").splitlines()
    found = [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    for names in _GROUPS:
        most, used = (text(f"/sys/fs/cgroup/{name}").strip() for name in names)
        if most.isdigit() and used.isdigit():
            found.append(max(0, int(most) - int(used)))
    return min(found, default=0)


def shared_available() -> int:
    """Bytes that are free in /dev/shm; 0 if there is none."""
    return shutil.disk_usage("/dev/shm").free if os.path.isdir("/dev/shm") else 0


def arguments(changes: dict[str, Any]) -> str:
    """Settings as arguments of DataLoader."""
    return ", ".join(f"{name}={changes[name]}" for name in SETTINGS if name in changes)
