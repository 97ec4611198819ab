"""The report of a measurement, with the same fields as the JSON of `dsconv bench --json`.

`dsconv.bench`, `dsconv.timed` and `python -m dsconv.train` all return one. ``dsconv bench --merge FILE`` reads the
reports of all three.
"""

from __future__ import annotations

import dataclasses
import html
import json
import math
import os
import platform
import statistics
import sys
from dataclasses import dataclass, field
from typing import Any, Callable

from ._short_messages import counted

# The stages of a loader's workers, which are summed over them.
WORKER_STAGES = ("read", "decode", "augment", "collate")

# The datasets that a repr shows.
_IN_REPR = 4


def _optional(default: Any = None, factory: Callable[[], Any] | None = None) -> Any:
    """A field that is left out of the JSON if it has its default."""
    if factory is not None:
        return field(default_factory=factory, metadata={"optional": True})
    return field(default=default, metadata={"optional": True})


@dataclass
class Machine:
    """The machine of the measurement, without its name."""

    cores: int = 0
    gomaxprocs: int = 0  # cores that the process may use
    memory_bytes: int = _optional(0)
    go: str = ""
    os: str = ""
    arch: str = ""
    python: str = _optional("")
    torch: str = _optional("")
    device: str = _optional("")  # of the model, such as a GPU's name

    @classmethod
    def this(cls, device: str = "") -> Machine:
        """The machine of this process, with torch and the GPU if they are in use."""
        torch = sys.modules.get("torch")
        if torch is not None and not device and torch.cuda.is_initialized():
            device = torch.cuda.get_device_name()
        cores = os.cpu_count() or 1
        try:
            usable = len(os.sched_getaffinity(0))
        except AttributeError:  # Linux only
            usable = cores
        return cls(
            cores=cores,
            gomaxprocs=usable,
            os=platform.system().lower(),
            arch=platform.machine(),
            python=platform.python_version(),
            torch=torch.__version__ if torch is not None else "",
            device=device,
        )


@dataclass
class Stages:
    """The time of each stage: seconds in a `Round`, microseconds per image in a `DatasetReport`. The step is the
    loop's; the other stages are summed over the loader's workers."""

    read: float = 0.0
    decode: float = 0.0
    augment: float = 0.0
    collate: float = 0.0
    step: float = 0.0


@dataclass
class Round:
    """One dataset's turn in a round: `epochs` epochs. Times are in seconds."""

    images: int = 0  # that the loop used
    loaded: int = 0  # by the workers; more than images if epochs end early
    bytes: int = 0  # stored size of the loaded images
    epochs: int = 1
    seconds: float = 0.0  # wall time
    wait_seconds: float = 0.0  # in which the loop waited for data
    first_wait_seconds: float = _optional(0.0)  # of it, until the first batch of each epoch
    cpu_seconds: float = 0.0  # of the process; 0 if unknown
    waited: dict[str, Any] | None = _optional()  # what the process waited for, and what others did meanwhile
    stage_seconds: Stages = field(default_factory=Stages)
    queue_depth: float = 0.0
    ratio: float = 0.0  # images/s divided by those of the first dataset in this round
    transfer_seconds: float = _optional(0.0)  # to the device
    accuracy: float | None = _optional()
    loss: float | None = _optional()

    @property
    def images_per_second(self) -> float:
        return _ratio(self.images, self.seconds)


@dataclass
class DatasetReport:
    """The measurement of one dataset: medians over its rounds. `accuracy` and `loss` are of the last round that has
    them."""

    path: str = ""
    format: str = ""
    encoding: str = _optional("")  # of the first image
    resize: str = _optional("")  # by which it was packed
    split: str = _optional("")
    samples: int = 0
    shorter_side: int = _optional(0)
    epoch_seconds: float = 0.0
    images_per_second: float = 0.0
    ratio: float = 0.0  # to the first dataset
    starved: float = 0.0  # share of the epoch in which the loop waited for data
    cpu_us_per_image: float = 0.0
    busy_cores: float = 0.0
    stage_us_per_image: Stages = field(default_factory=Stages)
    peak_memory_bytes: int = 0
    mapped_bytes: int = 0
    disk_bytes: int = 0
    queue_depth: float = 0.0
    memory_estimate: dict[str, int] = field(default_factory=dict)
    cached_bytes: int = _optional(0)
    bad_samples: int = _optional(0)
    narrowed: int = _optional(0)  # how often an image with 16 bits per channel was converted to 8
    narrowed_how: str = _optional("")
    transfer_seconds: float = _optional(0.0)  # per epoch
    accuracy: float | None = _optional()
    loss: float | None = _optional()
    decoded: dict[str, int] = _optional(factory=dict)  # images by what decoded them: engine, cuda, cpu
    swept_images_per_second: dict[str, float] = _optional(factory=dict)  # by number of workers, if some were tried
    step_us_per_image_without_loading: float = _optional(
        0.0
    )  # of whole batches; the step in `stage_us_per_image` is with
    settings: dict[str, Any] = _optional(factory=dict)  # of this dataset alone
    diagnosis: str = ""  # the verdict in a sentence
    costs: dict[str, Any] | None = _optional()  # of an image, by part: what the verdict is computed from
    rank_costs: list[dict[str, Any]] = _optional(factory=list)  # of each rank, from which costs are made
    verdict: dict[str, Any] | None = _optional()  # cause, gain, text, evidence, others
    timeline: dict[str, Any] | None = _optional()
    rounds: list[Round] = field(default_factory=list)

    def summarise(self) -> None:
        """Computes the medians from the rounds."""
        over = self._over
        self.epoch_seconds = over(lambda r: _ratio(r.seconds, r.epochs))
        self.images_per_second = over(lambda r: r.images_per_second)
        self.ratio = over(lambda r: r.ratio)
        self.starved = over(lambda r: _ratio(r.wait_seconds, r.seconds))
        self.cpu_us_per_image = over(lambda r: 1e6 * _ratio(r.cpu_seconds, r.loaded))
        self.busy_cores = over(lambda r: _ratio(r.cpu_seconds, r.seconds))
        self.queue_depth = over(lambda r: r.queue_depth)
        self.transfer_seconds = over(lambda r: _ratio(r.transfer_seconds, r.epochs))

        def us_per_image(stage: str) -> float:
            return over(lambda r: 1e6 * _ratio(getattr(r.stage_seconds, stage), r.loaded))

        step = over(lambda r: 1e6 * _ratio(r.stage_seconds.step, r.images))
        self.stage_us_per_image = Stages(**{stage: us_per_image(stage) for stage in WORKER_STAGES}, step=step)
        for r in self.rounds:
            self.accuracy = self.accuracy if r.accuracy is None else r.accuracy
            self.loss = self.loss if r.loss is None else r.loss

    def __repr__(self) -> str:
        figures = f"{self.images_per_second:.0f} images/s, ratio {self.ratio:.2f}, starved {100 * self.starved:.0f} %"
        return f"DatasetReport({self.path!r}): {figures}, {counted(len(self.rounds), 'round')}"

    def _over(self, figure: Callable[[Round], float]) -> float:
        return statistics.median(map(figure, self.rounds)) if self.rounds else 0.0


@dataclass
class Report:
    """The result of a measurement.

    `str(report)` is the table that ``dsconv bench`` prints; a notebook shows it too. `save_html` writes it as a
    page with charts. Ratios compare with the first dataset of the same report. `merged` are reports of other runs,
    each with its own ratios.
    """

    machine: Machine = field(default_factory=Machine)
    options: dict[str, Any] = field(default_factory=dict)  # rounds, epochs, batch, workers, dtype, ...
    consumer: str = ""  # description of what used the batches
    memory_of_process: bool = _optional(False)
    datasets: list[DatasetReport] = field(default_factory=list)
    notes: list[str] = _optional(factory=list)
    source: str = _optional("")  # the file of a merged report
    merged: list[Report] = _optional(factory=list)
    advice: dict[str, Any] | None = _optional()  # text, best, candidates: what to do about the first dataset

    def summarise(self) -> Report:
        """Computes the ratios and medians of the datasets from their rounds. Returns itself."""
        for d in self.datasets:
            first = self.datasets[0].rounds
            base = statistics.median(r.images_per_second for r in first) if first else 0.0
            paired = len(first) == len(d.rounds)
            for k, r in enumerate(d.rounds):
                r.ratio = _ratio(r.images_per_second, first[k].images_per_second if paired else base)
            d.summarise()
        return self

    def judge(self) -> Report:
        """Gives each dataset its verdict and diagnosis, and the advice its text, if they have none. Returns itself.

        The command judges, so that loops in Python and the command's own runs have the same rules.
        """
        from dsconv import _command

        judged = Report.from_dict(
            json.loads(_command.run(["bench", "--merge=-", "--json=-"], stdin=self.to_json()).stdout)
        )
        for mine, other in zip([self, *self.merged], [judged, *judged.merged]):
            mine.advice = other.advice
            for row, told in zip(mine.datasets, other.datasets):
                row.costs, row.verdict, row.diagnosis = told.costs, told.verdict, told.diagnosis
        return self

    @property
    def table(self) -> str:
        """The table as text, as the command `dsconv bench` prints it."""
        from dsconv import _command

        return _command.run(["bench", "--merge", "-"], stdin=self.to_json()).stdout

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        merged = f", {counted(len(self.merged), 'merged report')}" if self.merged else ""
        lines = [f"Report({self.consumer!r}): {counted(len(self.datasets), 'dataset')}{merged}"]
        shown = self.datasets if len(self.datasets) <= _IN_REPR else self.datasets[: _IN_REPR - 1]
        lines += [f"    {dataset!r}" for dataset in shown]
        if len(shown) < len(self.datasets):
            lines.append(f"    and {len(self.datasets) - len(shown)} more: print(report) shows all")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.table)}</pre>"

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = _to_dict(self)
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Report:
        report: Report = _from_dict(cls, data)
        return report

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report with all rounds to path, as JSON."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.to_json())

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Writes the report to path as one page of HTML: its figures as charts, tables and a timeline. The page needs
        no network.

        Raises ValueError if another file than such a page is at path.
        """
        from dsconv import _command

        _command.run(["bench", "--merge", "-", f"--html={os.path.abspath(path)}"], stdin=self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Report:
        """Reads a JSON file of `save` or ``dsconv bench --json``."""
        with open(path, encoding="utf-8") as f:
            return cls.from_dict(json.load(f))


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0


# The classes of the fields whose values are objects.
_NESTED: dict[str, type] = {
    "machine": Machine,
    "stage_seconds": Stages,
    "stage_us_per_image": Stages,
    "rounds": Round,
    "datasets": DatasetReport,
    "merged": Report,
}


def _from_dict(cls: type, data: dict[str, Any]) -> Any:
    """The object for a JSON object. Unknown fields, of later versions, are left out."""
    values = {}
    for f in dataclasses.fields(cls):
        if f.name not in data:
            continue
        value = data[f.name]
        nested = _NESTED.get(f.name)
        if nested is not None and isinstance(value, dict):
            value = _from_dict(nested, value)
        elif nested is not None:
            value = [_from_dict(nested, v) for v in value or ()]
        values[f.name] = value
    return cls(**values)


def _to_dict(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_dict(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # the loss of a diverged training; JSON has no NaN
    if not dataclasses.is_dataclass(value):
        return value
    pairs = [(f, _to_dict(getattr(value, f.name))) for f in dataclasses.fields(value)]
    return {f.name: v for f, v in pairs if not _is_omitted(f, v)}


def _is_omitted(f: dataclasses.Field[Any], value: Any) -> bool:
    """Reports whether the JSON leaves the field out, as Go's omitempty. Accuracy and loss can be 0; unknown is None."""
    return bool(f.metadata.get("optional")) and (value == f.default or value in ([], {}))
