package convert

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/tfrecord"
)

// hollow is a dataset of images that have no bytes.
func hollow(t *testing.T, n int) *memory {
	t.Helper()
	ds := newMemory(t, n, 0)
	ds.photo = nil
	return ds
}

// Images that are skipped for one cause take the same room in a checkpoint, however many they are, and all are listed.
func TestCheckpointOfSkippedImages(t *testing.T) {
	n := 20000
	r, err := Run(t.Context(), hollow(t, n), tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Order: KeyOrder, MaxSkipped: "100%"})
	if err == nil || !strings.Contains(err.Error(), "none of the 20000 images can be packed") || len(r.Skipped) != n || r.Skipped[n-1].Path == r.Skipped[0].Path || r.Skipped[n-1].Action != ActionSkipped {
		t.Fatalf("%v: %d are skipped", err, len(r.Skipped))
	}
	var state checkpoint
	for pos := range n {
		state.SkippedSpans = addPosition(state.SkippedSpans, pos, r.Skipped[pos].Cause)
	}
	b, err := json.Marshal(&state)
	if err != nil || len(b) > 1000 {
		t.Errorf("%v: a checkpoint of %d bytes", err, len(b))
	}
	again, err := decodeCheckpoint(b, 1)
	if err != nil || again.skips != n {
		t.Errorf("%v: %d are skipped after a resume, %d were", err, again.skips, n)
	}
}

// A checkpoint of an earlier version lists the images that were skipped.
func TestCheckpointWithAList(t *testing.T) {
	text := `{"fingerprint":1,"next":2,"skipped":[{"path":"a.jpg","cause":"why","action":"skipped"}]}`
	state, err := decodeCheckpoint([]byte(text), 1)
	if err != nil {
		t.Fatal(err)
	}
	src := hollow(t, 3)
	p, err := New(t.Context(), src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Order: KeyOrder})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Plan: p, state: state}
	r.state.SkippedSpans = addPosition(r.state.SkippedSpans, 1, "another")
	got := r.skipped()
	if len(got) != 2 || r.state.skips != 1 || got[0] != (Problem{Path: "a.jpg", Cause: "why", Action: ActionSkipped}) || got[1].Cause != "another" || !strings.Contains(got[1].Path, "1") {
		t.Errorf("%+v", got)
	}
}
