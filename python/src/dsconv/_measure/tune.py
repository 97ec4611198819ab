"""Finds the settings with which a user's DataLoader is fastest on this machine, without changing its samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils.data import DataLoader

from dsconv._measure.cores import share_of_cores
from dsconv._measure.process_memory import available, shared_available
from dsconv._measure.rebuild import SETTINGS, CannotRebuild, rebuilt, settings
from dsconv._measure.trial import Measure, Trial, compare
from dsconv._short_messages import short_message

# A setting is better if it saves more of the epoch than this; less is noise.
MARGIN = 0.03
_ROUNDS = 3  # of the comparison of the user's settings with the best ones
_MOST_WORKERS = 8  # for each core: a slow disk keeps that many busy
_MEMORY_SHARE = 0.8  # of the memory that is free, which a setting may take
_BY_DEFAULT = 2  # torch's prefetch_factor

OnTrial = Callable[[str, Trial], None]  # called with the settings that were tried


@dataclass
class Tuned:
    """The best settings, beside the user's."""

    changes: dict[str, Any]  # settings that differ from the user's; empty if these are the best
    before: Trial
    after: Trial
    gain: float  # share of the epoch that the changes save
    tried: list[Trial]
    refused: dict[str, str] = field(default_factory=dict)  # why a setting was not tried

    @property
    def command(self) -> str:
        """The changes as arguments of DataLoader; "" for none."""
        return arguments(self.changes)

    @property
    def text(self) -> str:
        """One sentence."""
        if not self.changes:
            return f"the DataLoader's settings are the best of {len(self.tried)} that were tried"
        return f"{self.command}: {gained(self.before, self.after, self.gain)}"


class Search:
    """Measures settings once each, and remembers those that cannot be measured."""

    def __init__(self, loader: DataLoader[Any], measure: Measure, on_trial: OnTrial | None = None) -> None:
        self.loader, self.measure, self.on_trial = loader, measure, on_trial
        self.tried: dict[tuple[Any, ...], Trial] = {}
        self.refused: dict[str, str] = {}

    def trial(self, **changes: Any) -> Trial | None:
        """The trial of loader with changes; None if it cannot have them, and `refused` says why."""
        try:
            candidate = rebuilt(self.loader, **changes)
        except CannotRebuild as err:
            self.refused[arguments(changes)] = str(err)
            return None
        key = tuple(settings(candidate).values())
        if key not in self.tried:
            trial = self._measured(candidate, changes)
            if trial is None:
                return None
            self.tried[key] = trial
        return self.tried[key]

    def _measured(self, candidate: DataLoader[Any], changes: dict[str, Any]) -> Trial | None:
        too_much = does_not_fit(settings(candidate), list(self.tried.values()))
        if too_much:
            self.refused[arguments(changes)] = too_much
            return None
        try:
            trial = self.measure(candidate)
            if self.on_trial is not None:
                self.on_trial(arguments(changes), trial)
            return trial
        except Exception as err:  # such as a dataset that workers cannot receive
            if not self.tried:
                raise  # the user's own settings
            self.refused[arguments(changes)] = f"it fails: {type(err).__name__}: {short_message(err)}"
            return None

    def fastest(self) -> Trial:
        """The fastest settings; among those as fast, within MARGIN, the ones with the fewest workers and the most like
        the user's."""
        best = min(t.epoch_seconds for t in self.tried.values())
        near = [t for t in self.tried.values() if t.epoch_seconds * (1 - MARGIN) <= best]
        own = settings(self.loader)

        def cost(trial: Trial) -> tuple[Any, ...]:
            changed = sum(trial.settings[name] != own[name] for name in SETTINGS)
            return trial.settings["num_workers"], trial.settings["prefetch_factor"] or 0, changed

        return min(near, key=cost)


def tune(loader: DataLoader[Any], measure: Measure, on_trial: OnTrial | None = None, cores: int = 0) -> Tuned:
    """Tries numbers of workers, then prefetch_factor, persistent_workers and pin_memory, and compares the best settings
    with the user's in turns.

    Each search ends when the next value is no better. cores are those that this process may use; 0: finds out.

    Raises CannotRebuild if the DataLoader cannot be rebuilt, and whatever the user's own settings raise.
    """
    search = Search(loader, measure, on_trial)
    rebuilt(loader)  # raises for one that cannot be
    if search.trial() is None:
        raise CannotRebuild(next(iter(search.refused.values())))
    _climb(search, cores or share_of_cores())
    for refine in (_prefetch, _persistence, _pinning):
        refine(search)
    own, best = settings(loader), search.fastest().settings
    return _confirmed(search, _differing(own, best))


def _differing(own: dict[str, Any], best: dict[str, Any]) -> dict[str, Any]:
    """The settings to change. prefetch_factor has a default with workers, which need not be written."""
    changes = {name: best[name] for name in SETTINGS if best[name] != own[name]}
    if (best["prefetch_factor"] or _BY_DEFAULT) == (own["prefetch_factor"] or _BY_DEFAULT):
        changes.pop("prefetch_factor", None)
    return changes


def _confirmed(search: Search, changes: dict[str, Any]) -> Tuned:
    """The result, after the user's settings and the best ones took turns: the best of many trials is also the
    luckiest."""
    tried = list(search.tried.values())
    own = search.tried[tuple(settings(search.loader).values())]
    if not changes:
        return Tuned({}, own, own, 0.0, tried, search.refused)
    best = rebuilt(search.loader, **changes)
    found = compare(lambda: search.measure(search.loader), lambda: search.measure(best), _ROUNDS)
    if found.gain <= MARGIN:
        return Tuned({}, found.before, found.before, 0.0, tried, search.refused)
    return Tuned(changes, found.before, found.after, found.gain, tried, search.refused)


def _climb(search: Search, cores: int) -> None:
    """Tries numbers of workers from the number of cores upwards while they are faster; if more are not, downwards while
    fewer are as fast; and none."""
    counts = list(_counts(cores, search.loader.num_workers))
    start = counts.index(cores)
    best = _seconds(_workers(search, cores))
    for count in counts[start + 1 :]:
        seconds = _seconds(_workers(search, count)) if math.isfinite(best) else math.inf
        if math.isinf(seconds) or seconds > best * (1 - MARGIN):
            break
        best, start = seconds, -1  # more are faster: fewer need not be tried
    for count in reversed(counts[1 : max(start, 1)]):
        seconds = _seconds(_workers(search, count))
        if seconds > best * (1 + MARGIN):
            break
        best = min(best, seconds)
    search.trial(num_workers=0)


def _counts(cores: int, own: int) -> Iterator[int]:
    """Numbers of workers that may be tried, in ascending order."""
    counts = {0, cores, cores * 3 // 2, own}
    counts.update(cores >> k for k in range(cores.bit_length()))
    counts.update(cores * more for more in (2, 4, _MOST_WORKERS))
    yield from sorted(counts)


def _workers(search: Search, count: int) -> Trial | None:
    """The trial of that many workers. They are kept between epochs where that is possible, so that their start does not
    hide what they do; `_persistence` asks whether that is needed."""
    return search.trial(num_workers=count, persistent_workers=True) or search.trial(num_workers=count)


def _prefetch(search: Search) -> None:
    best = search.fastest()
    if not best.settings["num_workers"]:
        return
    kept, seconds = _kept(best), best.epoch_seconds
    for factor in (2 * _BY_DEFAULT, 4 * _BY_DEFAULT):
        trial = search.trial(**{**kept, "prefetch_factor": factor})
        if _seconds(trial) > seconds * (1 - MARGIN):
            return
        seconds = _seconds(trial)


def _persistence(search: Search) -> None:
    """Also tries the best settings without persistent workers, unless the user has them."""
    best = search.fastest()
    if best.settings["persistent_workers"] and not search.loader.persistent_workers:
        search.trial(**{**_kept(best), "persistent_workers": False})


def _pinning(search: Search) -> None:
    if accelerator() is None:
        search.refused["pin_memory"] = "there is no GPU to copy to"
        return
    best = search.fastest()
    search.trial(**{**_kept(best), "pin_memory": not best.settings["pin_memory"]})


def _kept(trial: Trial) -> dict[str, Any]:
    """The trial's settings, as changes for another one."""
    kept = {name: value for name, value in trial.settings.items() if name != "batch_size"}
    if not kept["num_workers"]:
        kept = {name: kept[name] for name in ("num_workers", "pin_memory")}
    return kept


def _seconds(trial: Trial | None) -> float:
    return math.inf if trial is None else trial.epoch_seconds


def does_not_fit(new: dict[str, Any], tried: list[Trial]) -> str:
    """Why settings need more memory than there is, judged by trials of others; "" if they fit or nobody knows."""
    known = next((t for t in reversed(tried) if t.settings["num_workers"]), None)
    if known is None:
        return ""
    more = estimate(new, known) - known.peak_memory
    free = available()
    if known.peak_memory and free and more > _MEMORY_SHARE * free:
        return f"it would take {megabytes(more)} more memory, and {megabytes(free)} are free"
    queued, shared = queue_bytes(new, known), shared_available()
    if new["num_workers"] and shared and queued > _MEMORY_SHARE * shared:
        return f"its batches would take {megabytes(queued)} of /dev/shm, and {megabytes(shared)} are free"
    return ""


def estimate(new: dict[str, Any], known: Trial) -> int:
    """The peak memory with settings, from a trial with workers: each worker needs as much as there, and each batch that
    is prefetched its bytes. 0 if the trial's memory is unknown."""
    workers: int = known.settings["num_workers"]
    if not known.peak_memory or not workers:
        return 0
    queued = queue_bytes(known.settings, known)
    rest = known.peak_memory - known.worker_memory
    worker = max(0, known.worker_memory - queued) // workers
    more: int = new["num_workers"] * worker
    return rest + more + queue_bytes(new, known)


def queue_bytes(of: dict[str, Any], known: Trial) -> int:
    """The bytes of the batches that workers have ready at most."""
    scale = 1.0
    if of["batch_size"] and known.settings["batch_size"]:
        scale = of["batch_size"] / known.settings["batch_size"]
    batches = of["num_workers"] * ((of["prefetch_factor"] or 0) + 1) + 1  # each worker also has one in progress
    return int(batches * scale * known.batch_bytes)


def accelerator() -> torch.device | None:
    """The GPU to which pinned memory is copied faster; None if there is none."""
    return torch.device("cuda") if torch.cuda.is_available() else None


def arguments(changes: dict[str, Any]) -> str:
    """Settings as arguments of DataLoader."""
    return ", ".join(f"{name}={changes[name]}" for name in SETTINGS if name in changes)


def gained(before: Trial, after: Trial, gain: float) -> str:
    """What another setting did to the epoch, and to the memory where that is known."""
    change = f"{abs(100 * gain):.0f} % {'less' if gain >= 0 else 'more'}"
    text = f"an epoch takes {after.epoch_seconds:.2f} s instead of {before.epoch_seconds:.2f} s ({change})"
    if before.peak_memory and after.peak_memory:
        more = after.peak_memory - before.peak_memory
        text += f", {'+' if more >= 0 else '-'}{megabytes(abs(more))} of memory"
    return text


def megabytes(size: int) -> str:
    """A size in one short word and its unit."""
    return f"{size / 1e6:.0f} MB" if size < 1e10 else f"{size / 1e9:.0f} GB"
