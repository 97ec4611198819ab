"""Packs a folder of photos into shards on a Ray cluster: the one at RAY_ADDRESS, or one that it starts here.

    python ray_pack.py PLAN PHOTOS DST SHARDS [OPTIONS OF dsconv pack]
    python ray_pack.py /data/plan.json /data/photos '/data/out/train-%06d.tar' 64 --resize shorter:256 --encode jpeg:90

All machines must see the paths, and have dsconv. If the program is killed, run it again: it packs what is missing.
"""

import os
import subprocess
import sys

import dsconv.engines.ray


def main() -> None:
    plan, photos, destination, shards, *options = sys.argv[1:]
    if not os.path.exists(plan):  # else an earlier run made it
        command = ["dsconv", "shards", "plan", photos, destination, f"--shards={shards}", "-o", plan]
        subprocess.run([*command, *options], check=True)
    print(dsconv.engines.ray.pack(plan, threads=1))


if __name__ == "__main__":
    main()
