package manifest

import "unsafe"

// unsafeString is b as a string without a copy. Columns are only ever appended to, and
// growing moves them to new memory, so the bytes under the string never change.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
