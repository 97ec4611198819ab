// Package convert turns any dataset into any other: source -> preprocess -> writer.
//
// A [Plan] fixes everything that decides the bytes before the first image is read: which
// samples, in what order, where shards end, where checkpoints fall. Run then reads and
// processes on many goroutines and commits in the plan's order on one, so that the output
// does not depend on timing, and a pack that was killed goes on from its last checkpoint
// to the same bytes.
package convert
