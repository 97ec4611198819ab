// Package edit makes new versions of a dataset: samples added, removed, relabelled,
// merged from several datasets, restored from their source.
//
// A new version is a conversion whose source is the old one with the changes on top: what
// stays is copied as it is, or not even that where it lies in a file of its own that can
// stay. So an edit has what a pack has: checkpoints, resume, an old version that is there
// until the new one is complete.
//
// A dataset remembers what was removed and set by hand, so that adding its source again does not
// undo that (formats.Provenance, formats.Removals).
//
// Class indices never move: new classes come after those that there are.
package edit
