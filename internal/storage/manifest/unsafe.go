package manifest

import "unsafe"

// unsafeString returns b as a string without a copy: valid until b's bytes change.
func unsafeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
