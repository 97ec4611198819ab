"""Packs the shards of a plan as tasks of Spark."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from dsconv._errors import ArgumentTypeError
from dsconv.engines import _unit

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from dsconv._pack import PackReport


def pack(
    plan: _unit.Path, session: SparkSession | SparkContext, *, threads: int = 1, commit: bool = True
) -> PackReport | None:
    """Packs the plan's missing shards on Spark's executors, then publishes the dataset.

    The shards are the partitions of one job, so each is a task. Spark's own settings decide the rest:

    - ``spark.task.cpus``: set it to `threads`, the threads that each task uses.
    - ``spark.task.maxFailures`` (4): how often a shard may fail, or its executor die, before the job fails. With the
      master ``local[N]`` it is 1; ``local[N,4]`` retries.
    - ``spark.speculation``: may be on. A second copy of a slow task packs the shard a second time, the first to finish
      counts, and the other is stopped with its command.

    After a failure the shards that are packed stay, and the same call packs the rest.

    The result is the report that `dsconv.pack` returns. With commit=False nothing is published and the result is None;
    `dsconv shards commit PLAN` does it later.

    Raises:
        TypeError: session belongs to Spark Connect, which has no SparkContext.
        py4j.protocol.Py4JJavaError: a shard failed; the message has the command's.
        dsconv.Error: the commit failed, with the command's message.
    """
    context = getattr(session, "sparkContext", session)
    if not hasattr(context, "parallelize"):
        raise ArgumentTypeError(
            f"session is a {type(session).__module__}.{type(session).__qualname__} without a SparkContext; "
            "start a SparkSession that is not one of Spark Connect"
        )
    path = os.path.abspath(plan)  # executors have another working directory
    shards = _unit.missing(path)
    if shards:
        context.parallelize(shards, len(shards)).foreach(functools.partial(_unit.pack, path, threads=threads))
    return _unit.commit(path) if commit else None
