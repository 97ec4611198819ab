"""Packs the shards of a plan on the workers of Ray, Spark or Dask.

    dsconv shards plan photos/ out/train-%06d.tar --shards 64 -o plan.json

    import dsconv.engines.ray
    dsconv.engines.ray.pack("plan.json")

dsconv must be installed on every worker, and every worker must see the plan, the photos and the destination under the
same paths. To pack a shard again, or twice at once, is safe: the first result counts, and nobody sees half a shard. So
`pack` may be killed, with its engine or alone, and the same call packs only the shards that are missing.
"""
