// Package convert turns any dataset into any other: source -> preprocess -> writer.
//
//	src, err := folder.Open(ctx, "images", folder.Config{})
//	...
//	defer src.Close()
//	report, err := convert.Run(ctx, src, shard.Format{}, "out.tar", convert.Options{})
//	...
//	fmt.Println(report.Written, "of", report.Found)
//
// A [Plan], which New makes and Run runs, fixes everything that decides the output's bytes before the
// first image is read: which samples, in what order, where shards end, where checkpoints fall. Run then
// reads and processes on many goroutines and commits in the plan's order on one goroutine. So the output
// does not depend on timing.
//
// A run that was cancelled keeps what was written, in DST.partial, and one that was killed what was written
// a minute before. A run with the same arguments goes on from there, and ends with the same bytes.
//
// The source may be a formats.Dataset of the caller's own. It is read on several goroutines at once. A
// sample whose Read panics or breaks the contract is a bad image (see OnError).
package convert
