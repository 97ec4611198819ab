"""The scripts of examples/scale, copied and edited for a job as a user does."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from cluster import EXAMPLES
from job import OPTIONS, SHARDS, Job, photos


def copy(name: str, job: Job, script: str = "", **settings: object) -> Path:
    """Copies a file or folder of examples/scale to the job, once; returns the script in it that is to be run."""
    target = job.folder / "my copy" / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        copy_any = shutil.copytree if (EXAMPLES / name).is_dir() else shutil.copy
        copy_any(EXAMPLES / name, target)
        words = {"source": photos(), "dest": job.destination, "plan": str(job.plan)}
        lines = {name: shlex.quote(word) for name, word in words.items()}
        lines["options"] = f"({shlex.join(OPTIONS)})"
        edit(target / script, {**lines, "shards": SHARDS, **settings})
    return target / script


def edit(script: Path, settings: dict[str, object]) -> None:
    """Edits lines NAME=VALUE of a script."""
    lines = script.read_text().splitlines(keepends=True)
    for name, value in settings.items():
        at = [i for i, line in enumerate(lines) if line.startswith(name + "=")]
        assert len(at) == 1, f"{script} has no line {name}="
        lines[at[0]] = f"{name}={value}\n"
    script.write_text("".join(lines))


def unpublished(job: Job) -> Path:
    """The folder of the shards, which is there until they are published."""
    return Path(job.destination + ".shards")


def forget_plan(job: Job) -> None:
    """Leaves it to the script to make the plan."""
    shutil.rmtree(unpublished(job))
    for path in job.folder.glob("plan.json*"):
        path.unlink()
