package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/parquetfile"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
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
	plain := rowsOf(2000, nil)
	b := encodeRows(t, testColumns, false, plain)
	if f, err := parquetfile.Parse("x", b, parquetfile.Limits{}); err != nil || slices.ContainsFunc(f.Columns(), func(c parquetfile.Column) bool { return c.Name() == "edited" || c.Name() == "origin" }) {
		t.Errorf("a manifest without marks has columns of them: %v", err)
	}
	meta := &formats.Meta{Columns: testColumns, History: &formats.History{}}
	want := formats.History{Origins: 4}
	rows := rowsOf(2000, func(i int, r *Row) {
		r.Provenance = formats.Provenance{Edited: uint16(i % 3 << 14), Origin: uint16(i % 5)}
		if r.Provenance.Edited != 0 {
			want.Edited++
		}
	})
	profile := sampleindex.NewProfile(testColumns, 0)
	var file bytes.Buffer
	w := NewWriter(&file, testColumns, true)
	for _, r := range rows {
		taken, err := sampleindex.TakeRow(&wire.Cursor{B: sampleindex.AppendRow(nil, r, true)}, len(testColumns), true)
		noError(t, err)
		profile.Add(&taken)
		noError(t, w.Append(&taken))
	}
	noError(t, w.Close())
	got, err := readRows(file.Bytes(), testColumns)
	noError(t, err)
	checkEqualRows(t, "marks", got, rows)
	profile.Describe(meta)
	if meta.History == nil || *meta.History != want || meta.RequiredVersion() != 2 {
		t.Errorf("the rows have %+v, want %+v", meta.History, want)
	}
}
