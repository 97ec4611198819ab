// Package edit makes new versions of a dataset: samples are added, removed, relabelled, merged from
// several datasets, or restored from their source.
//
// A new version is a conversion of the old version with changes applied. Unchanged samples are
// copied as they are stored; files without changes are kept. So an edit works like a pack: it has
// checkpoints, it can be resumed, and the old version stays until the new one is complete.
//
// A dataset records what was removed and set by hand, so that adding its source again does not
// undo that (formats.Provenance, formats.Removals).
//
// Class indices never change: new classes come after the old ones.
package edit
