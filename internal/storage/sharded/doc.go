// Package sharded reads datasets of one or many shards: which files a path names ([ShardPath]), and
// their records in mapped memory ([Records]).
package sharded
