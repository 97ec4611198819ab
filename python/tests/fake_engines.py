"""Fakes of Ray, Spark and Dask that run each task at once, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Callable


class Task:
    """A task that was submitted, with its result or its exception."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self.error: Exception | None = None
        self.released = self.cancelled = False
        try:
            self.value = function(*arguments)
        except Exception as error:
            self.error = error

    def result(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value

    def release(self) -> None:
        self.released = True


class Ray:
    """The functions of the module ray that dsconv calls."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.settings: dict[str, Any] = {}
        self.addresses: list[str | None] = []
        self.most_in_flight = 0

    def is_initialized(self) -> bool:
        return bool(self.addresses)

    def init(self, address: str | None) -> None:
        self.addresses.append(address)

    def remote(self, **settings: Any) -> Callable[..., SimpleNamespace]:
        self.settings = settings
        return lambda function: SimpleNamespace(remote=lambda *arguments: self._submit(function, arguments))

    def wait(self, tasks: list[Task]) -> tuple[list[Task], list[Task]]:
        self.most_in_flight = max(self.most_in_flight, len(tasks))
        return tasks[:1], tasks[1:]

    def get(self, tasks: list[Task]) -> list[Any]:
        return [task.result() for task in tasks]

    def cancel(self, task: Task) -> None:
        task.cancelled = True

    def _submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Task:
        self.tasks.append(Task(function, arguments))
        return self.tasks[-1]


class DaskClient:
    """A distributed.Client."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.keys: list[str] = []
        self.retries = 0

    def submit(self, function: Callable[..., Any], *arguments: Any, key: str, retries: int) -> Task:
        self.keys.append(key)
        self.retries = retries
        self.tasks.append(Task(function, arguments))
        return self.tasks[-1]

    def cancel(self, tasks: list[Task]) -> None:
        for task in tasks:
            task.cancelled = True


def as_completed(tasks: list[Task]) -> Iterator[Task]:
    """distributed.as_completed, in an order that is not the tasks'."""
    yield from reversed(tasks)


class SparkContext:
    """A SparkContext, and the RDD that its parallelize makes."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.partitions = 0

    def parallelize(self, values: list[int], partitions: int) -> SparkContext:
        self._values, self.partitions = values, partitions
        return self

    def foreach(self, function: Callable[[int], Any]) -> None:
        self.tasks += [Task(function, (value,)) for value in self._values]
        for task in self.tasks:
            task.result()
