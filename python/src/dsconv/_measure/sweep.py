"""The same DataLoader with several values of one setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.utils.data import DataLoader

from dsconv._errors import ArgumentError
from dsconv._measure.findings import Point, Sweep
from dsconv._measure.rebuild import SETTINGS, CannotRebuild, rebuilt, settings
from dsconv._measure.trial import Measure, Trial, middle
from dsconv._measure.tune import OnTrial, arguments, does_not_fit, estimate
from dsconv._short_messages import short_message, shown

# The names of settings, as `dsconv bench --sweep` has them for datasets, beside the DataLoader's.
_NAMES = {
    "workers": "num_workers",
    "batch": "batch_size",
    "prefetch": "prefetch_factor",
    "pin": "pin_memory",
    "persistent": "persistent_workers",
}
_SWITCHES = ("pin_memory", "persistent_workers")
_KNEE = 0.05
_ROUNDS = 2


def parse(text: str) -> tuple[str, list[int]]:
    """The setting and the values of a sweep such as "workers=0,1,2,4", in ascending order. Raises ArgumentError."""
    name, equals, values = text.partition("=")
    name = name.strip()
    setting = _NAMES.get(name, name)
    if not equals or setting not in SETTINGS:
        raise ArgumentError(f"sweep={shown(text)}: write a setting and its values, such as workers=0,1,2,4: {_known()}")
    try:
        numbers = sorted({int(value) for value in values.split(",")})
    except ValueError:
        raise ArgumentError(f"sweep={shown(text)}: the values must be whole numbers, such as {name}=1,2,4") from None
    if setting in _SWITCHES and not set(numbers) <= {0, 1}:
        raise ArgumentError(f"sweep={shown(text)}: {setting} is 0 (off) or 1 (on)")
    return setting, numbers


def sweep(
    loader: DataLoader[Any],
    setting: str,
    values: Sequence[int],
    measure: Measure,
    name: str = "",
    on_trial: OnTrial | None = None,
) -> tuple[Sweep, list[str]]:
    """The sweep, and why some values were not measured. The values take turns in rounds.

    Raises CannotRebuild if the DataLoader can have none of the values.
    """
    sides, notes = _sides(loader, setting, values)
    known = _reference(loader, sides, measure, on_trial)
    trials: dict[int, list[Trial]] = {}
    for number in range(_ROUNDS):
        for value in sorted(sides, reverse=number % 2 == 1):
            trial = _tried(loader, sides[value], {setting: value}, measure, known, notes, on_trial)
            if trial is None:
                del sides[value]
                trials.pop(value, None)
            else:
                trials.setdefault(value, []).append(trial)
    if not trials:
        raise CannotRebuild("; ".join(notes))
    points = [_point(value, middle(trials[value]), known) for value in sorted(trials)]
    return Sweep(_short(setting), name, points, knee(points)), notes


def knee(points: Sequence[Point]) -> float:
    """The smallest value whose epoch is within 5 % of the fastest."""
    fastest = min(p.epoch_seconds for p in points)
    return min(p.value for p in points if p.epoch_seconds <= fastest * (1 + _KNEE))


def _sides(loader: DataLoader[Any], setting: str, values: Sequence[int]) -> tuple[dict[int, Any], list[str]]:
    """The DataLoader with each value, and why it cannot have others."""
    sides: dict[int, Any] = {}
    notes: list[str] = []
    for value in values:
        try:
            sides[value] = rebuilt(loader, **{setting: bool(value) if setting in _SWITCHES else value})
        except CannotRebuild as err:
            notes.append(f"sweep of {_short(setting)}: {err}")
    if not sides:
        raise CannotRebuild("; ".join(notes) or f"sweep of {_short(setting)}: give it values")
    return sides, notes


def _reference(
    loader: DataLoader[Any], sides: dict[int, Any], measure: Measure, on_trial: OnTrial | None
) -> Trial | None:
    """A trial with workers, which says what a worker and a batch need; the user's if it has workers. None if there are
    none anywhere."""
    with_workers = [side for side in (loader, *sides.values()) if side.num_workers]
    if not with_workers:
        return None
    try:
        trial = measure(with_workers[0])
        if on_trial is not None:
            on_trial(arguments(settings(with_workers[0])), trial)
        return trial
    except Exception:  # the same settings fail again, as a point, where the reason is kept
        return None


def _tried(
    loader: DataLoader[Any],
    side: DataLoader[Any],
    change: dict[str, Any],
    measure: Measure,
    known: Trial | None,
    notes: list[str],
    on_trial: OnTrial | None,
) -> Trial | None:
    why = does_not_fit(settings(side), [known] if known is not None else [])
    if not why:
        try:
            trial = measure(side)
            if on_trial is not None:
                on_trial(arguments(change), trial)
            return trial
        except Exception as err:
            if settings(side) == settings(loader):
                raise  # the user's own settings
            why = f"it fails: {type(err).__name__}: {short_message(err)}"
    notes.append(f"{arguments(change)} was not measured: {why}")
    return None


def _point(value: int, trial: Trial, known: Trial | None) -> Point:
    own = known is not None and known.settings == trial.settings  # what is measured is no prediction
    return Point(
        value=value,
        epoch_seconds=trial.epoch_seconds,
        images_per_second=trial.images_per_second,
        memory_estimate_bytes=0 if known is None or own else estimate(trial.settings, known),
        peak_memory_bytes=trial.peak_memory,
    )


def _short(setting: str) -> str:
    return next((short for short, name in _NAMES.items() if name == setting), setting)


def _known() -> str:
    return ", ".join(sorted(_NAMES))
