//go:build cgo

package lmdb

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// savedTest writes large samples, so that several transactions lie between two checkpoints.
type savedTest struct {
	meta    formats.Meta
	samples []*formats.Sample
}

const savedEvery = 100 // samples between checkpoints

func newSavedTest() *savedTest {
	s := &savedTest{meta: formats.Meta{Format: "lmdb", Schema: fixtureMeta.Schema}}
	for i := range 220 {
		b := make([]byte, 90<<10)
		r := rand.NewChaCha8([32]byte{byte(i)})
		_, _ = r.Read(b)
		copy(b, "\xff\xd8\xff")
		smp := &formats.Sample{Key: fmt.Sprintf("%04d", i), Values: []formats.Value{
			{Data: b, Encoding: formats.JPEG, DType: formats.Uint8, Shape: []int{1, 2, 3}},
			{},
			{Data: b[:9], Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{3, 3, 1}},
			{Data: b[:i], Encoding: formats.Plain},
		}}
		smp.Values[1].SetInt64(int64(i % 2))
		smp.Checksum = checksum.SampleChecksum(s.meta.Schema, smp)
		s.samples = append(s.samples, smp)
	}
	return s
}

// write writes the samples from..to with the checkpoints of the plan.
func (s *savedTest) write(t *testing.T, w formats.Writer, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		must(t, w.Write(s.samples[i]))
		if (i+1)%savedEvery == 0 {
			must(t, w.Checkpoint(fmt.Append(nil, i+1)))
		}
	}
}

// finish writes the rest and returns data.mdb of images and fields.
func (s *savedTest) finish(t *testing.T, w formats.Writer, path string, from int) []byte {
	t.Helper()
	s.write(t, w, from, len(s.samples))
	must(t, w.Commit())
	images, err := os.ReadFile(filepath.Join(path, dataName))
	must(t, err)
	fields, err := os.ReadFile(filepath.Join(path, fieldsName, dataName))
	must(t, err)
	return slices.Concat(images, fields)
}

// TestSavedBetweenTransactions: a run that saves and stops between transactions writes the bytes of an undisturbed one, and
// one that finds damaged saved samples, or those of an earlier checkpoint, resumes from what is whole.
func TestSavedBetweenTransactions(t *testing.T) {
	s := newSavedTest()
	create := func() (formats.Writer, string) {
		path := filepath.Join(t.TempDir(), "x.lmdb")
		w, err := Format{}.Create(path, s.meta, formats.CreateOptions{})
		must(t, err)
		return w, path
	}
	w, path := create()
	want := s.finish(t, w, path, 0)

	w, path = create()
	from := 0
	for _, stop := range []int{3, 60, 61, 130, 190} {
		s.write(t, w, from, stop)
		must(t, w.(formats.Saver).Save(fmt.Append(nil, stop)))
		must(t, w.Close())
		if stop == 130 || stop == 3 {
			s.damaged(t, path, stop, want)
		}
		var note []byte
		var err error
		w, _, note, err = Format{}.Resume(path, formats.CreateOptions{})
		must(t, err)
		if string(note) != fmt.Sprint(stop) {
			t.Fatalf("resumed at %s, want %d", note, stop)
		}
		from = stop
	}
	if !bytes.Equal(s.finish(t, w, path, from), want) {
		t.Error("other bytes than an undisturbed run")
	}
}

// damaged resumes copies of the unfinished dataset at path whose saved samples are not what was saved.
func (s *savedTest) damaged(t *testing.T, path string, stop int, want []byte) {
	t.Helper()
	name := filepath.Join(path+sidecar.PartialSuffix, "data", "saved")
	whole, err := os.ReadFile(name)
	must(t, err)
	flip := func(at int) []byte { return slices.Concat(whole[:at], []byte{^whole[at]}, whole[at+1:]) }
	checkpoint := stop - stop%savedEvery
	for what, b := range map[string][]byte{
		"another journal": flip(9), "a length": flip(20), "a sample": flip(200), "the note": flip(len(whole) - 1), "cut": whole[:len(whole)/2],
		"empty": {}, "more": append(slices.Clone(whole), whole[20:1000]...), "twice": append(slices.Clone(whole), whole[20:]...),
	} {
		copied := filepath.Join(t.TempDir(), "x.lmdb")
		must(t, os.CopyFS(copied+sidecar.PartialSuffix, os.DirFS(path+sidecar.PartialSuffix)))
		must(t, os.WriteFile(filepath.Join(copied+sidecar.PartialSuffix, "data", "saved"), b, 0o644))
		w, _, note, err := Format{}.Resume(copied, formats.CreateOptions{})
		if what == "twice" { // forged: each record is right
			if !errors.Is(err, formats.ErrDamaged) {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		from := checkpoint
		if what == "more" {
			from = stop
		}
		if got := string(note); got != fmt.Sprint(from) && (from > 0 || got != "") {
			t.Errorf("%s: resumed at %q, want %d", what, got, from)
		}
		if !bytes.Equal(s.finish(t, w, copied, from), want) {
			t.Errorf("%s: other bytes than an undisturbed run", what)
		}
	}
}
