// Package convert turns any dataset into any other: source -> preprocess -> writer.
//
// A [Plan] fixes everything that decides the output's bytes before the first image is read:
// which samples, in what order, where shards end, where checkpoints fall. Run then reads and
// processes on many goroutines and commits in the plan's order on one goroutine. So the output
// does not depend on timing, and a pack that was killed resumes from its last checkpoint and
// ends with the same bytes.
package convert
