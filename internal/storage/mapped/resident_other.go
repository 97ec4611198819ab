//go:build !linux

package mapped

import "os"

// Resident reports whether the page of that byte is in memory; false if the system does not
// reveal it.
func (m *Mapping) Resident(int64) bool { return false }

func canReadResidency(string, os.FileInfo) bool { return false }
