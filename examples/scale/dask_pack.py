"""Packs a folder of photos into shards on a Dask cluster: DASK_SCHEDULER_ADDRESS's, or one that it starts here.

    python dask_pack.py PLAN PHOTOS DST SHARDS [OPTIONS OF dsconv pack]
    python dask_pack.py /data/plan.json /data/photos '/data/out/train-%06d.tar' 64 --resize shorter:256 --encode jpeg:90

All machines must see the paths, and have dsconv. If the program is killed, run it again: it packs what is missing.
"""

import os
import subprocess
import sys

import dsconv.engines.dask
from distributed import Client


def main() -> None:
    plan, photos, destination, shards, *options = sys.argv[1:]
    if not os.path.exists(plan):  # else an earlier run made it
        command = ["dsconv", "shards", "plan", photos, destination, f"--shards={shards}", "-o", plan]
        subprocess.run([*command, *options], check=True)
    with Client() as client:
        print(dsconv.engines.dask.pack(plan, client, threads=1))


if __name__ == "__main__":
    main()
