//go:build !linux

package mapped

import "os"

// Resident says whether the page of that byte is in memory, false where the system does not
// tell.
func (m *Mapping) Resident(int64) bool { return false }

func tellsResidency(string, os.FileInfo) bool { return false }
