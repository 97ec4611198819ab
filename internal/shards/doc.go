// Package shards divides the packing of one dataset among any number of processes on any number of machines that share a
// file system. The processes need not know of each other: a program of the user's, such as a job array of Slurm, decides
// which shard is packed where.
//
// A Plan is made once. It fixes everything that decides the bytes: the samples, their order and labels, which shard each is
// in, the recipe. Plan.Pack writes one shard, in a folder of its own attempt, which becomes the shard's folder by one
// rename when it is complete. So an attempt may be killed at any moment, repeated, or run twice at once: the first one
// that is complete counts, and all write the same bytes. Plan.Commit checks all shards, joins their manifests and
// checksums, links their data files into the dataset without copying them, publishes it at once, and removes what the
// attempts left. The dataset is the one that a pack on one machine writes, byte for byte.
//
// Tars and TFRecords are written like that. PlanShards, PackShard and CommitShards of the root package are the way to use
// this one.
package shards
