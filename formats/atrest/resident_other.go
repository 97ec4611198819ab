//go:build !linux

package atrest

import "os"

// resident says whether the page of that byte is in memory, false where the system does not
// tell.
func (m *Mapping) resident(int64) bool { return false }

func canReadResidency(string, os.FileInfo) bool { return false }
