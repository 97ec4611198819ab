"""The rules of thumb of loading tutorials, each tested with a user's DataLoader on this machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch.utils.data import DataLoader

from dsconv._measure import accumulation, in_memory, small_types
from dsconv._measure.cores import share_of_cores
from dsconv._measure.findings import Rule
from dsconv._measure.process_memory import available
from dsconv._measure.rebuild import CannotRebuild, rebuilt, settings
from dsconv._measure.trial import Measure, Step, Trial, compare, first_batch
from dsconv._measure.tune import accelerator, arguments, does_not_fit, gained, megabytes
from dsconv._short_messages import counted, short_message

# A rule that saves less of the epoch than this does not help: such a gain is not repeatable.
HELPS = 0.05
_ROUNDS = 3
_LARGER = 2  # times the batch
_KEEPING_SECONDS = 2.0  # in which samples are put into memory

MeasureWith = Callable[["Step | None"], Measure]  # measures with a loop's step


class NotMeasurable(Exception):
    """The reason why a rule cannot be tested here."""


@dataclass
class Subject:
    """The DataLoader, and the loop that uses it."""

    loader: DataLoader[Any]
    measure_with: MeasureWith
    step: Step | None = None
    name: str = ""

    @cached_property
    def measure(self) -> Measure:
        return self.measure_with(self.step)

    @cached_property
    def batch(self) -> Any:
        """A batch of the DataLoader."""
        return first_batch(self.loader)

    @cached_property
    def trial(self) -> Trial:
        """The DataLoader as it is."""
        return self.measure(self.loader)

    def with_and_without(self, name: str, change: str, without: Any, loader: Any) -> Rule:
        """The rule, after both DataLoaders took turns."""
        return self.judged(name, change, lambda: self.measure(without), lambda: self.measure(loader))

    def judged(self, name: str, change: str, without: Callable[[], Trial], changed: Callable[[], Trial]) -> Rule:
        """The rule, after trials without and with the change took turns."""
        found = compare(without, changed, _ROUNDS)
        helps = found.gain >= HELPS and found.agree
        more = found.after.peak_memory - found.before.peak_memory
        unclear = not found.agree and abs(found.gain) >= HELPS
        if unclear:
            verdict = "unclear, as the rounds contradict each other (is the machine busy?)"
        else:
            verdict = "helps" if helps else "costs time" if found.gain <= -HELPS else "no gain"
        text = f"{verdict}: with {change} {gained(found.before, found.after, found.gain)}"
        return Rule(name, self.name, True, helps, found.gain, more, unclear, text)


def rules(
    loader: DataLoader[Any],
    measure_with: MeasureWith,
    step: Step | None = None,
    name: str = "",
    on_rule: Callable[[Rule], None] | None = None,
) -> list[Rule]:
    """Each rule of thumb: whether it helps here, by how much and at what memory, or why that cannot be measured.

    A rule that the DataLoader follows already is compared with the DataLoader without it. step is the loop's body,
    without which the loader alone is measured. Raises CannotRebuild if the DataLoader cannot be rebuilt, and whatever
    its own settings raise.
    """
    subject = Subject(loader, measure_with, step, name)
    rebuilt(loader)
    subject.measure(loader)  # warms up the caches, and raises the user's own errors
    found = []
    for title, test in RULES.items():
        found.append(_tested(subject, title, test))
        if on_rule is not None:
            on_rule(found[-1])
    return found


def _tested(subject: Subject, title: str, test: Callable[[Subject, str], Rule]) -> Rule:
    try:
        return test(subject, title)
    except (NotMeasurable, CannotRebuild) as err:
        return Rule(title, subject.name, text=f"not measurable here: {err}")
    except Exception as err:  # of the user's code, with settings that the user did not choose
        return Rule(title, subject.name, text=f"not measurable here: {type(err).__name__}: {short_message(err)}")


def more_workers(subject: Subject, title: str) -> Rule:
    own = subject.loader.num_workers
    return _setting(subject, title, num_workers=2 * own or share_of_cores())


def prefetch(subject: Subject, title: str) -> Rule:
    _needs_workers(subject, "nothing is prefetched")
    return _setting(subject, title, prefetch_factor=2 * (subject.loader.prefetch_factor or 1))


def pinned_memory(subject: Subject, title: str) -> Rule:
    device = accelerator()
    if device is None:
        raise NotMeasurable("there is no GPU to copy to")
    step = subject.step or (lambda batch: small_types.converted(batch, lambda x: x.to(device, non_blocking=True)))
    copying = Subject(subject.loader, subject.measure_with, step, subject.name)
    return _switch(copying, title, "pin_memory")


def persistent_workers(subject: Subject, title: str) -> Rule:
    _needs_workers(subject, "none can stay")
    return _switch(subject, title, "persistent_workers")


def ram_dataset(subject: Subject, title: str) -> Rule:
    kept = in_memory.keep(subject.loader, _KEEPING_SECONDS)
    if kept.images:
        change = "decoded images in memory"
    else:
        change = "whole samples in memory (the most that it can gain: random transforms would not change any more)"
    rule = subject.with_and_without(title, change, kept.without, kept.loader)
    rule.memory_bytes, free = kept.whole_bytes, available()
    figures = re.sub(r", [+-]\d+ [MG]B of memory$", "", rule.text)  # of the samples that are kept for this measurement
    samples = counted(len(subject.loader.dataset), "sample")
    rule.text = f"{figures}; all {samples} take {megabytes(kept.whole_bytes)} of memory"
    if free and kept.whole_bytes > free:
        rule.helps = False
        rule.text += f", and only {megabytes(free)} are free"
    return rule


def small_batches_of_bytes(subject: Subject, title: str) -> Rule:
    if not small_types.has_floats(subject.batch):
        raise NotMeasurable("its batches have no images as floats")
    smaller, how = small_types.with_small_types(subject.loader)
    if subject.step is None:
        return subject.with_and_without(title, f"uint8 batches ({how})", subject.loader, smaller)
    floats = subject.measure_with(small_types.Floats(subject.step))  # the step gets what it needs, and pays for it
    change = f"uint8 batches that the loop converts ({how})"
    return subject.judged(title, change, lambda: subject.measure(subject.loader), lambda: floats(smaller))


def gradient_accumulation(subject: Subject, title: str) -> Rule:
    if subject.step is None:
        raise NotMeasurable("it saves steps of the optimizer, and no step of the loop was given (--step); no loading")
    optimizers = accumulation.optimizers_of(subject.step, subject.batch)
    if not optimizers:
        raise NotMeasurable("the loop's step calls no optimizer of torch's")

    def accumulated() -> Trial:
        with accumulation.accumulating(optimizers):
            return subject.measure(subject.loader)

    change = f"one optimizer step for {accumulation.EVERY} batches"
    return subject.judged(title, change, lambda: subject.measure(subject.loader), accumulated)


def larger_batches(subject: Subject, title: str) -> Rule:
    size = subject.loader.batch_size
    if size is None:
        raise NotMeasurable("the DataLoader has no batch_size: its batch_sampler or its dataset makes the batches")
    rule = _setting(subject, title, batch_size=_LARGER * size)
    rule.text += "; it also changes the training"
    return rule


RULES: dict[str, Callable[[Subject, str], Rule]] = {
    "more workers": more_workers,
    "prefetch": prefetch,
    "pinned memory": pinned_memory,
    "persistent workers": persistent_workers,
    "RAM dataset": ram_dataset,
    "small types": small_batches_of_bytes,
    "accumulation": gradient_accumulation,
    "larger batches": larger_batches,
}


def _setting(subject: Subject, title: str, **change: Any) -> Rule:
    """The rule that another value of a setting helps."""
    loader = rebuilt(subject.loader, **change)
    known = [subject.trial] if subject.loader.num_workers else []
    too_much = does_not_fit(settings(loader), known)
    if too_much:
        raise NotMeasurable(f"{arguments(change)}: {too_much}")
    own = {name: getattr(subject.loader, name) for name in change}
    return subject.with_and_without(title, f"{arguments(change)} ({arguments(own)})", subject.loader, loader)


def _switch(subject: Subject, title: str, setting: str) -> Rule:
    """The rule that a setting should be on."""
    sides = [rebuilt(subject.loader, **{setting: on}) for on in (False, True)]
    own = " (as it is)" if getattr(subject.loader, setting) else ""
    return subject.with_and_without(title, f"{setting}=True{own}", *sides)


def _needs_workers(subject: Subject, why: str) -> None:
    if not subject.loader.num_workers:
        raise NotMeasurable(f"num_workers=0: {why}")
