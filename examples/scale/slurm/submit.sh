#!/usr/bin/env bash
# Packs a dataset by a Slurm job array and publishes it: ./submit.sh
#
# Copy this folder to a place that all nodes see, edit the lines below, and the resources at the top of pack.sbatch and
# commit.sbatch. Running it again is safe at any time: it submits the shards that are missing, and packs nothing twice.

# ---- Edit ----
source=/data/images                # what `dsconv pack` takes as SRC
dest=/data/packed/train-%06d.tar   # a pattern: one file for each shard
plan=/data/packed/plan.json        # where the plan is written
shards=64
options=(--resize shorter:320 --encode jpeg:90)   # options of `dsconv pack`
at_once=32    # tasks that run at the same time
tasks=1000    # tasks in the array, at most MaxArraySize - 1 of slurm.conf; with more shards a task packs several
rounds=3      # how often the shards that are still missing are submitted
# ---- End of what to edit ----

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"   # the jobs start here too
round=${1:-1}   # commit.sbatch passes the number of the next round

# submit submits a job and prints its number. slurmctld may be restarting: sbatch is repeated for some minutes. If it
# accepted a job and its answer was lost, there are two; they do not disturb each other.
submit() {
  local id pause
  for pause in 5 10 20 40 80; do
    if id=$(sbatch --parsable "$@"); then
      echo "${id%%;*}"
      return
    fi
    echo "sbatch failed; once more in $pause s" >&2
    sleep "$pause"
  done
  echo "sbatch failed: run ./submit.sh again later" >&2
  return 1
}

mkdir -p logs "$(dirname "$plan")"
if [ -e "$plan" ]; then
  echo "$plan is there: it is packed as it was planned, whatever the lines above say now"
else
  dsconv shards plan "$source" "$dest" --shards "$shards" -o "$plan" "${options[@]}"
fi
list=logs/missing-$round.txt
dsconv shards missing "$plan" >"$list.$$"
mv "$list.$$" "$list"
after=()
if [ -s "$list" ]; then
  # Shard I belongs to task I modulo tasks.
  ids=$(awk -v tasks="$tasks" '{ print $1 % tasks }' "$list" | sort -nu | paste -sd, -)
  array=$(submit --array="$ids%$at_once" pack.sbatch "$plan" "$list" "$tasks")
  after=(--dependency="afterany:$array")
  echo "round $round of $rounds: job $array packs $(wc -l <"$list") shards"
fi
echo "job $(submit "${after[@]}" commit.sbatch "$plan" "$round" "$rounds") publishes the dataset: logs/commit-*.log"
