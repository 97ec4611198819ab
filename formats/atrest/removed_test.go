package atrest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func removedList(n int) []formats.RemovedSample {
	list := make([]formats.RemovedSample, n)
	for i := range list {
		list[i] = formats.RemovedSample{Key: fmt.Sprintf("ключ/%09d", i), Source: formats.Source{
			Path: fmt.Sprintf("p%d.jpg", i), Size: int64(i) << 20, Hash: [16]byte{byte(i), 15: byte(i >> 8)},
		}}
	}
	return list
}

// What was removed is read as it was written; a list that is damaged or another one is an error.
func TestRemoved(t *testing.T) {
	for _, n := range []int{1, 3, 3*manifestBatch + 1} {
		s := &Stage{removed: removedList(n)}
		b, err := s.EncodeRemoved()
		must(t, err)
		m := &formats.Meta{History: &formats.History{Removed: n}}
		got, err := DecodeRemoved(m, func() ([]byte, error) { return b, nil })
		must(t, err)
		if !reflect.DeepEqual(got, s.removed) {
			t.Fatalf("%d removed samples are not what they were", n)
		}
		m.History.Removed++
		for _, bad := range [][]byte{b, b[:len(b)-1], nil, []byte("PAR1")} {
			if _, err := DecodeRemoved(m, func() ([]byte, error) { return bad, nil }); !errors.Is(err, formats.ErrDamaged) {
				t.Errorf("%d bytes of %d: %v", len(bad), len(b), err)
			}
		}
	}
	list, err := DecodeRemoved(&formats.Meta{}, func() ([]byte, error) { return nil, errors.New("it is read") })
	if list != nil || err != nil {
		t.Errorf("without removed samples: %v, %v", list, err)
	}
}

// FuzzRemoved: a file is an error or a list.
func FuzzRemoved(f *testing.F) {
	b, err := (&Stage{removed: removedList(5)}).EncodeRemoved()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &formats.Meta{History: &formats.History{Removed: 5}}
		list, err := DecodeRemoved(m, func() ([]byte, error) { return b, nil })
		if (err == nil) != (len(list) == 5) || err != nil && !errors.Is(err, formats.ErrDamaged) {
			t.Fatalf("%d removed samples, %v", len(list), err)
		}
	})
}

// Marks go through the journal and the manifest; where there are none, neither has them.
func TestMarks(t *testing.T) {
	plain := tableOf(t, 2000)
	b, _ := encodeTable(t, plain)
	if f, err := parseFooter(b, nil, "edited", "origin"); err != nil || len(f.chunks["edited"])+len(f.chunks["origin"]) > 0 {
		t.Errorf("a manifest without marks has columns of them: %v", err)
	}
	meta := &formats.Meta{Columns: plain.columns, History: &formats.History{}}
	tab := newManifestFor(meta)
	want := formats.History{}
	for i := range 2000 {
		r := rowOf(i)
		r.Provenance = formats.Provenance{Edited: uint16(i % 3 << 14), Origin: uint16(i % 5)}
		if r.Provenance.Edited != 0 {
			want.Edited++
		}
		must(t, tab.Append(r))
	}
	want.Origins = 4
	journal := newManifestFor(meta)
	_, err := decodeCheckpoint(encodeCheckpoint(tab, 0, nil, nil), journal)
	must(t, err)
	b, ranks := encodeTable(t, journal)
	read, err := ReadManifest(b, plain.columns)
	must(t, err)
	for r, i := range ranks {
		if got, want := read.rows.at(r).provenance, tab.rows.at(int(i)).provenance; got != want {
			t.Fatalf("row %d has the mark %v, want %v", i, got, want)
		}
	}
	read.Describe(meta)
	if meta.History == nil || *meta.History != want || meta.RequiredVersion() != 2 {
		t.Errorf("the rows have %+v, want %+v", meta.History, want)
	}
}

// The room that a kept version takes is that of files which the dataset does not have too.
func TestKeptBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x.tar.old")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, previousNoteName), []byte(`{"dsconv_kept":"x.tar"}`), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "x.tar"), make([]byte, 1000), 0o644))
	k, err := FindPrevious(filepath.Join(filepath.Dir(dir), "x.tar"))
	must(t, err)
	alone, err := k.Bytes()
	must(t, err)
	must(t, os.Link(filepath.Join(dir, "x.tar"), filepath.Join(filepath.Dir(dir), "x.tar")))
	shared, err := k.Bytes()
	must(t, err)
	if alone-shared != 1000 {
		t.Errorf("%d bytes alone, %d shared", alone, shared)
	}
	for _, text := range []string{"", "{}", `{"dsconv_kept":"../x.tar"}`, `{"dsconv_kept":".."}`, `{"dsconv_kept":"%d%d"}`} {
		must(t, os.WriteFile(filepath.Join(dir, previousNoteName), []byte(text), 0o644))
		if _, err := FindPrevious(filepath.Join(filepath.Dir(dir), "x.tar")); !errors.Is(err, formats.ErrForeign) {
			t.Errorf("a note of %q: %v", text, err)
		}
	}
}
