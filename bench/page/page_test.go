package page

import (
	"bytes"
	"os"
	"testing"
)

func TestDraft(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHTML(&b, full()); err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/page-draft.html", b.Bytes(), 0o644)
}
