"""Packs a folder of photos into shards on a Spark cluster: the one that spark-submit names, else on this machine.

    spark-submit --master spark://HOST:7077 spark_pack.py PLAN PHOTOS DST SHARDS [OPTIONS OF dsconv pack]

as in

    spark-submit spark_pack.py /data/plan.json /data/photos "/data/out/train-%06d.tar" 64 --encode jpeg-tiled

All machines must see the paths, and have dsconv. If the program is killed, run it again: it packs what is missing.
"""

import os
import subprocess
import sys

import dsconv.engines.spark
from pyspark.sql import SparkSession


def main() -> None:
    plan, photos, destination, shards, *options = sys.argv[1:]
    if not os.path.exists(plan):  # else an earlier run made it
        command = ["dsconv", "shards", "plan", photos, destination, f"--shards={shards}", "-o", plan]
        subprocess.run([*command, *options], check=True)
    # A shard that takes much longer than the others is packed on another machine too; the first result counts.
    session = SparkSession.builder.appName("dsconv").config("spark.speculation", "true").getOrCreate()
    try:
        print(dsconv.engines.spark.pack(plan, session, threads=1))
    finally:
        session.stop()


if __name__ == "__main__":
    main()
