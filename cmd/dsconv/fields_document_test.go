//go:build cgo

package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// The programs in docs/fields.md, by other people's readers, read the fields that pack wrote.
func TestTheDocumentedProgramsReadFields(t *testing.T) {
	formatcheck.Python(t, "import lmdb, h5py, webdataset, tfrecord") // skips before anything is packed
	document, err := os.ReadFile("../../docs/fields.md")
	must(t, err)
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(document, -1)
	if len(blocks) != 4 {
		t.Fatalf("docs/fields.md has %d programs", len(blocks))
	}
	t.Chdir(t.TempDir())
	writeFields(t)
	for _, ext := range []string{"lmdb", "h5", "tar", "tfrecord"} {
		packFields(t, "out."+ext)
	}
	program := ""
	for _, block := range blocks {
		program += string(block[1]) + compareFields
	}
	formatcheck.Python(t, program)
}

// compareFields compares what one of the programs read with what writeFields wrote.
const compareFields = `
want = Image.open("src/masks/train/2.png")
assert mask.size == want.size and mask.tobytes() == want.tobytes()
assert meta == {"i": 2} and caption == "größer 2\n"
assert boxes.tolist() == [[0, 1, 4, 7], [2, 1, 6, 7]] and labels.tolist() == [0, 1] and points.shape == (2, 2), (boxes, labels, points)
del mask, meta, caption, boxes, labels, points

`
