"""What the tests of all engines share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dsconv import _command
from job import Job, pack_reference


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jobs")


@pytest.fixture(scope="session")
def reference(workspace: Path) -> Path:
    """The dataset that every job must make."""
    return pack_reference(workspace / "reference")


@pytest.fixture(scope="session")
def recorded() -> Iterator[None]:
    """Lets the wheel run its command by way of recorded-dsconv, here and in whatever is started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSCONV_RECORDED", _command.path())
        patch.setenv("DSCONV_COMMAND", str(Path(__file__).parent / "recorded-dsconv"))
        yield


@pytest.fixture
def new_job(workspace: Path, reference: Path) -> Iterator[Callable[[], Job]]:
    """Makes jobs. Their folders are removed after the test."""
    jobs: list[Job] = []

    def make() -> Job:
        names = (workspace / f"job-{i}" for i in itertools.count())
        jobs.append(Job(next(name for name in names if not name.exists())))
        return jobs[-1]

    yield make
    for job in jobs:
        job.remove()
