package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/wire"
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
		removed := removedList(n)
		b, err := EncodeRemoved(removed)
		noError(t, err)
		m := &formats.Meta{History: &formats.History{Removed: n}}
		got, err := DecodeRemoved(m, func() ([]byte, error) { return b, nil })
		noError(t, err)
		if !reflect.DeepEqual(got, removed) {
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
	b, err := EncodeRemoved(removedList(5))
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
	meta := &formats.Meta{Columns: plain.Columns, History: &formats.History{}}
	tab := NewManifestFor(meta)
	want := formats.History{}
	for i := range 2000 {
		r := rowOf(i)
		r.Provenance = formats.Provenance{Edited: uint16(i % 3 << 14), Origin: uint16(i % 5)}
		if r.Provenance.Edited != 0 {
			want.Edited++
		}
		noError(t, tab.Append(r))
	}
	want.Origins = 4
	journal := NewManifestFor(meta)
	noError(t, journal.TakeRows(&wire.Cursor{B: tab.AppendRows(nil, 0)}))
	b, ranks := encodeTable(t, journal)
	read, err := readManifest(b, plain.Columns)
	noError(t, err)
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
