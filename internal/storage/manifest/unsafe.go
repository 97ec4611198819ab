package manifest

import "unsafe"

// unsafeString returns b as a string without a copy. Columns are only appended to, and
// growing moves them to new memory, so the string's bytes never change.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
