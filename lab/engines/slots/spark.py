"""Spark on this machine, with executors of their own, as on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import dsconv.engines.spark
from pyspark.sql import SparkSession

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": "false",
}


@contextmanager
def started(slots: int) -> Iterator[Callable[[str], object]]:
    session = SparkSession.builder.master(f"local-cluster[{slots},1,1024]").config(map=SETTINGS).getOrCreate()
    yield partial(dsconv.engines.spark.pack, session=session)
    session.stop()
