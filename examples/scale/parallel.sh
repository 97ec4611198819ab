#!/usr/bin/env bash
# Packs a dataset by GNU parallel and publishes it. Edit the lines below, then: ./parallel.sh
# Running it again is safe at any time: it packs the shards that are missing.

# ---- Edit ----
source=/data/images                # what `dsconv pack` takes as SRC
dest=/data/packed/train-%06d.tar   # a pattern: one file for each shard
plan=/data/packed/plan.json        # where the plan is written
shards=64
options=(--resize shorter:320 --encode jpeg:90)   # options of `dsconv pack`
at_once=8     # shards that are packed at the same time
# ---- End of what to edit ----

# Several hosts: add `--sshlogin 8/node1,8/node2` to the line of parallel. All must see the same paths and have dsconv in
# their PATH. A host that cannot be reached is one more failed try: --retries takes another host.
#
# Without GNU parallel, this line does the same. xargs stops when a process is killed; run the line again then.
#
#     dsconv shards missing plan.json | xargs -P 8 -I{} dsconv shards pack plan.json {} -j 1

set -euo pipefail
mkdir -p "$(dirname "$plan")"
if [ -e "$plan" ]; then
  echo "$plan is there: it is packed as it was planned, whatever the lines above say now"
else
  dsconv shards plan "$source" "$dest" --shards "$shards" -o "$plan" "${options[@]}"
fi
# -q: the plan's path is one word, whatever is in it. A shard that failed five times is named by commit.
dsconv shards missing "$plan" |
  parallel -q -j "$at_once" --retries 5 --joblog "$plan.joblog" dsconv shards pack "$plan" {} -j 1 || true
dsconv shards commit "$plan"
