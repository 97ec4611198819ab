package page

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// The chart library is the published file, as its README says.
func TestLibraryIsThePublishedOne(t *testing.T) {
	const version, sum = "6.1.0", "b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0"
	script := must(library())
	if got := sha256.Sum256([]byte(script)); hex.EncodeToString(got[:]) != sum {
		t.Errorf("SHA-256 %x", got)
	}
	readme, err := os.ReadFile("assets/echarts/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), sum) || !strings.Contains(string(readme), version) || !strings.Contains(script, `"`+version+`"`) {
		t.Error("README.md and the file are of different versions")
	}
	if strings.Contains(script, "</script") || strings.Contains(script, "<!--") {
		t.Error("it cannot stand in a page as it is")
	}
}
