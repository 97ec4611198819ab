package nvml

import "testing"

// SetLibrary makes Open load another library until the test has ended.
func SetLibrary(t *testing.T, file string) {
	before := library
	library = file
	t.Cleanup(func() { library = before })
}
