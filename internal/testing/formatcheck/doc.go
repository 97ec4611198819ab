// Package formatcheck has what the tests of our own formats and of their callers share, beside the suite of
// package formattest: trees of files that must be the same ([SameTrees]), what a dataset holds ([Describe]),
// a writer that is killed ([Pack]), an unfinished dataset that was tampered with ([Partial]), Python
// ([Python]).
package formatcheck
