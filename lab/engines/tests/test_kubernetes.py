"""examples/scale/kubernetes/job.yaml without a cluster: its fields are those of the API, and its command lines pack.

Not tested: Kubernetes itself, which gives each pod its index and starts failed pods again.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes.client
import pytest
import yaml
from cluster import EXAMPLES
from job import OPTIONS, SHARDS, Job, photos
from killer import Killer
from processes import Process, Unit
from rounds import assert_done
from usercopy import forget_plan

# Counts the units that start.
pytestmark = pytest.mark.usefixtures("recorded")
MANIFEST = EXAMPLES / "kubernetes" / "job.yaml"
PLAN, PACK, COMMIT = yaml.safe_load_all(MANIFEST.read_text())


@pytest.mark.parametrize("document", [PLAN, PACK, COMMIT], ids=lambda document: document["metadata"]["name"])
def test_fields_are_those_of_the_api(document: dict[str, Any]) -> None:
    assert document["apiVersion"] == "batch/v1"
    check("V1Job", document, "job")


def check(kind: str, value: Any, where: str) -> None:
    """Checks a value against a class of the API: the names of fields, and their types."""
    if match := re.fullmatch(r"list\[(.*)\]", kind):
        assert isinstance(value, list), where
        for i, element in enumerate(value):
            check(match[1], element, f"{where}[{i}]")
    elif kind == "dict(str, str)":
        assert all(isinstance(v, str) for v in value.values()), f"{where}: not only strings"
    elif kind.startswith("V1"):
        api = getattr(kubernetes.client, kind)
        names = {name: attribute for attribute, name in api.attribute_map.items()}
        for name, element in value.items():
            assert name in names, f"{where}: {kind} has no field {name}"
            check(api.openapi_types[names[name]], element, f"{where}.{name}")
    elif kind in ("str", "int", "bool"):
        assert type(value) is {"str": str, "int": int, "bool": bool}[kind], f"{where}: {value!r} is no {kind}"


def test_the_steps_fit_together() -> None:
    assert str(PACK["spec"]["completions"]) == environment(PLAN)["SHARDS"]
    assert len({environment(step)["PLAN"] for step in (PLAN, PACK, COMMIT)}) == 1
    for step, label in ((PLAN, "plan"), (PACK, "pack"), (COMMIT, "commit")):
        assert step["metadata"]["labels"] == {"step": label}
        assert f"-l step={label}\n" in MANIFEST.read_text()
    # What the API demands of an Indexed Job with a limit for each index, and with a policy for failures of pods.
    assert PACK["spec"]["completionMode"] == "Indexed"
    assert PACK["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    assert PACK["spec"]["podReplacementPolicy"] == "Failed"
    assert PACK["spec"]["maxFailedIndexes"] <= PACK["spec"]["completions"]


def container(step: dict[str, Any]) -> dict[str, Any]:
    (only,) = step["spec"]["template"]["spec"]["containers"]
    return only


def environment(step: dict[str, Any]) -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in container(step)["env"]}


def run(step: dict[str, Any], job: Job, index: int | None = None) -> int:
    """Runs a pod's command as it stands, with the job's paths in the variables that are there to be edited."""
    edited = {"SOURCE": photos(), "DEST": job.destination, "PLAN": str(job.plan), "SHARDS": str(SHARDS)}
    variables = {name: edited[name] for name in environment(step)}
    if index is not None:
        variables["JOB_COMPLETION_INDEX"] = str(index)
    line = [*container(step)["command"], *container(step)["args"]]
    line[2] = line[2].replace("--resize shorter:320 --encode jpeg:90", " ".join(OPTIONS))
    return subprocess.run(line, env={**os.environ, **variables}, stdin=subprocess.DEVNULL).returncode


def test_pods_pack(new_job: Callable[[], Job], reference: Path) -> None:
    """Pods in any order; one is killed, and one runs twice."""
    job = new_job()
    forget_plan(job)
    assert run(PLAN, job) == 0
    assert run(PLAN, job) == 0
    assert run(COMMIT, job) != 0  # nothing is there
    assert run_and_kill(job, 5)
    assert job.missing() == list(range(SHARDS))
    for index in reversed([*range(SHARDS), 5]):
        assert run(PACK, job, index) == 0
    assert run(COMMIT, job) == 0
    assert run(COMMIT, job) == 0
    assert_done(job, reference)


def run_and_kill(job: Job, index: int) -> bool:
    """Kills a pod's process. Because of exec in the command line, there is only dsconv to kill."""

    def pod(unit: Unit, ancestors: list[Process], _: dict[int, Process]) -> list[Process]:
        assert ancestors[0].pid == os.getpid()
        return [unit.process]

    with Killer(job, "pod", pod, count=1, longest=0.5):
        return run(PACK, job, index) == -signal.SIGKILL
