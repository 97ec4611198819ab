"""What a bench of a DataLoader measures beside its rows: the best settings, sweeps and rules of thumb."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable

from dsconv._errors import ArgumentError
from dsconv._report import Report

from .candidates import faster
from .look import is_dataloader
from .rows import Row, settings
from .turns import Plan, Turn

_SECONDS = 1.0  # of each trial, or more
_STAYING = (
    "persistent_workers=True: workers keep their copy of the dataset from epoch to epoch; leave it out if the loop "
    "changes the dataset between epochs"
)


@dataclass(frozen=True)
class OtherSettings:
    """What is asked for. Sweeps are texts such as "workers=0,1,2,4"."""

    tune: bool = False
    rules: bool = False
    sweeps: Sequence[str] = ()

    def of(self, loader: Any, name: str, plan: Plan) -> Trials | None:
        """The trials of a DataLoader; None if nothing is asked for. Raises ArgumentError for a sweep that is written
        wrongly, and for another loader, which has no settings that could be changed."""
        if not (self.tune or self.rules or self.sweeps):
            return None
        if not is_dataloader(loader):
            raise ArgumentError(
                f"tune, rules and sweep need a DataLoader of torch's; {name} is a {type(loader).__name__}"
            )
        return Trials(self, loader, name, plan)


class Trials:
    """Measures a DataLoader with other settings, and adds what it finds to a report."""

    def __init__(self, asked: OtherSettings, loader: Any, name: str, plan: Plan) -> None:
        from .sweep import parse  # imports torch

        self._asked, self._loader, self._name, self._plan = asked, loader, name, plan
        self._sweeps = [parse(text) for text in asked.sweeps]
        self._tuned: Any = None
        self._best: Row | None = None

    def add_best(self, rows: list[Row]) -> None:
        """Finds the best settings, if that is asked for, and adds a row with them after the user's."""
        if not self._asked.tune:
            return
        from .rebuild import rebuilt
        from .tune import tune

        self._tuned = tune(self._loader, self._measure_with(loop(self._plan)), self._show)
        if self._tuned.changes:
            best = rebuilt(self._loader, **self._tuned.changes)
            command = f"DataLoader({self._tuned.command})"
            self._best = Row(f"{self._name}, tuned", best, settings=settings(best), command=command)
            rows.insert(1, self._best)

    def add_findings(self, report: Report) -> None:
        """Measures the sweeps and rules, and adds all that was found to the report of the rows."""
        if self._tuned is not None:
            self._add_tuned(report)
        step = loop(self._plan)
        for setting, values in self._sweeps:
            from .sweep import sweep

            found, notes = sweep(self._loader, setting, values, self._measure_with(step), self._name, self._show)
            report.sweeps.append(dataclasses.asdict(found))
            report.notes += notes
        if self._asked.rules:
            from .rules import rules

            found_rules = rules(self._loader, self._measure_with, step, self._name, lambda r: self._tell(r.name))
            report.rules += [dataclasses.asdict(rule) for rule in found_rules]

    def close(self) -> None:
        """Ends the workers of the best settings' DataLoader."""
        if self._best is not None:
            from .rebuild import close

            close(self._best.iterable)

    def _add_tuned(self, report: Report) -> None:
        report.notes.append(f"{self._name}: {self._tuned.text}")
        report.notes += [f"tune: {what} was not tried: {why}" for what, why in self._tuned.refused.items()]
        if self._tuned.changes.get("persistent_workers"):
            report.notes.append(_STAYING)
        if self._best is None:
            return
        best = report.datasets[1]
        for other in report.datasets[2:]:
            if other.format == "Loader":
                report.notes.append(
                    f"{other.path} is {faster(other, best):.2f} times as fast as the DataLoader with its best settings"
                )

    def _measure_with(self, step: Any) -> Any:
        from .trial import Meter

        return Meter(step, _SECONDS)

    def _show(self, changes: str, trial: Any) -> None:
        self._tell(changes or "as it is", trial.epoch_seconds, trial.images_per_second)

    def _tell(self, what: str, seconds: float = 0.0, rate: float = 0.0) -> None:
        if self._plan.on_turn is not None:
            self._plan.on_turn(Turn(f"{self._name}, {what}", 0, self._plan.rounds, 0, 0, seconds, rate))


def loop(plan: Plan) -> Callable[[Any], Any] | None:
    """The loop's body: transfer, then step; None if there is no loop."""
    transfer, step = plan.transfer, plan.step
    if transfer is None or step is None:
        return step or transfer

    def both(batch: Any) -> Any:
        return step(transfer(batch))

    return both
