// Package edit changes a dataset that dsconv packed: samples are added, removed, relabelled, merged from
// several datasets, or restored from their source.
//
//	report, err := edit.Remove(ctx, dsconv.Formats(), "out.lmdb", []string{"cat/12"}, edit.Options{})
//	...
//	fmt.Println(report.Removed, "removed;", report.Samples, "are left")
//
// [Add], [Remove], [Relabel], [Merge] and [Repair] write a new version: a conversion of the old version
// with changes applied. Unchanged samples are copied as they are stored; files without changes are
// kept. So an edit works like a pack: it has checkpoints, it can be resumed, and the old version stays
// until the new one is complete. If an edit fails or its context ends, the dataset is what it was; the work until then
// is in the folder DATASET.partial, and the same call resumes from it.
// Options.DryRun plans an edit and changes nothing.
//
// Readers that have the old version open keep it. Two edits of a dataset at the same time do not mix:
// one of them fails with formats.ErrLocked, or because the version that it was planned from was replaced.
//
// A dataset records what was removed and set by hand, so that adding its source again does not
// undo that (formats.Provenance, formats.Removals).
//
// Class indices never change: new classes come after the old ones.
package edit
