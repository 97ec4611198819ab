package nvjpeg

// ErrNotFound is for tests from outside.
var ErrNotFound = errNotFound
