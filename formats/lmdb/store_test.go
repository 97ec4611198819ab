//go:build cgo

package lmdb

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// bigMeta and bigSample are a dataset with extra fields whose samples take many pages,
// sometimes more than a whole transaction.
var bigMeta = formats.Meta{Version: formats.Version, Format: "lmdb", Schema: formats.Schema{
	{Name: "image", Kind: formats.Image},
	{Name: "label", Kind: formats.Label},
	{Name: "mask", Kind: formats.Mask},
	{Name: "caption", Kind: formats.Text},
}}

func bigSample(i int) *formats.Sample {
	r := rand.New(rand.NewPCG(uint64(i), 5))
	data := make([]byte, 100+r.IntN(30_000))
	if i%50 == 17 {
		data = make([]byte, 300_000)
	}
	for k := range data {
		data[k] = byte(r.Uint32())
	}
	copy(data, "\xff\xd8\xff\xe0")
	mask := make([]byte, (1+i%9)*100)
	s := &formats.Sample{Key: fmt.Sprintf("%06d", i), Values: []formats.Value{
		{Data: data, Encoding: formats.JPEG, DType: formats.Uint8, Shape: []int{10, 20, 3}},
		{},
		{Data: mask, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{1 + i%9, 100, 1}},
		{Data: data[:i%5], Encoding: formats.Plain},
	}}
	s.Values[1].SetInt64(int64(i % 7))
	s.Checksum = checksum.SampleChecksum(bigMeta.Schema, s)
	return s
}

var big = formatcheck.Pack{Format: Format{}, Meta: bigMeta, Sample: bigSample, Count: 400, Every: 60, Prepare: shrink}

// shrink makes transactions and the memory map so small that both come to their limits.
func shrink(w formats.Writer) error {
	for _, s := range w.(*writer).stores() {
		s.limit, s.mapSize = 64<<10, 1<<20
		if err := s.env.SetMapSize(s.mapSize); err != nil {
			return err
		}
	}
	return nil
}

func small(t *testing.T, w formats.Writer) *writer {
	t.Helper()
	if err := shrink(w); err != nil {
		t.Fatal(err)
	}
	return w.(*writer)
}

func sameTree(t *testing.T, got, want string) {
	t.Helper()
	formatcheck.SameTrees(t, formatcheck.Tree(t, got), formatcheck.Tree(t, want))
}

// feed writes all samples from that one on and commits; before is that of Pack.Write.
func feed(t *testing.T, w *writer, from int, before func(i int)) {
	t.Helper()
	if err := big.Write(w, from, big.Count, before); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func newBig(t *testing.T, path string) *writer {
	t.Helper()
	w, err := Format{}.Create(path, bigMeta, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return small(t, w)
}

// TestKilledBetweenTransactions resumes from copies of the stage taken while many
// transactions are past the last checkpoint, and wants the bytes of an undisturbed run.
func TestKilledBetweenTransactions(t *testing.T) {
	want := filepath.Join(t.TempDir(), "x.lmdb")
	copies := map[int]string{}
	feed(t, newBig(t, want), 0, func(i int) {
		if i%37 == 5 || i%big.Every == 0 || i == big.Count-1 {
			copies[i] = filepath.Join(t.TempDir(), "x.lmdb")
			if err := os.CopyFS(copies[i]+sidecar.PartialSuffix, os.DirFS(want+sidecar.PartialSuffix)); err != nil {
				t.Fatal(err)
			}
		}
	})
	for _, i := range slices.Sorted(maps.Keys(copies)) {
		w, _, note, err := Format{}.Resume(copies[i], formats.CreateOptions{})
		if err != nil {
			t.Fatalf("killed before sample %d: %v", i, err)
		}
		from := i - i%big.Every
		if string(note) != fmt.Sprint(from) && from > 0 {
			t.Fatalf("killed before sample %d: note %q", i, note)
		}
		feed(t, small(t, w), from, nil)
		sameTree(t, copies[i], want)
	}
}

// TestKilledBeforeTheJournal: LMDB has synced what the checkpoint's record should tell, but
// the record was never written; and the dataset is finished, but not published.
func TestKilledBeforeTheJournal(t *testing.T) {
	want := filepath.Join(t.TempDir(), "x.lmdb")
	feed(t, newBig(t, want), 0, nil)
	for name, last := range map[string]func(w *writer) error{
		"synced":           func(w *writer) error { return errors.Join(w.images.sync(), w.fields.sync()) },
		"one store synced": func(w *writer) error { return w.images.sync() },
		"reopened": func(w *writer) error {
			return errors.Join(w.images.sync(), w.fields.sync(), w.images.reopen(), w.fields.reopen())
		},
		"finished": func(w *writer) error {
			_, err := w.images.finish(dataName)
			_, ferr := w.fields.finish(dataName)
			return errors.Join(err, ferr)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.lmdb")
			w := newBig(t, path)
			if err := big.Write(w, 0, 150, nil); err != nil {
				t.Fatal(err)
			}
			if err := last(w); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			again, _, note, err := Format{}.Resume(path, formats.CreateOptions{})
			if err != nil || string(note) != "120" {
				t.Fatalf("note %q, %v", note, err)
			}
			feed(t, small(t, again), 120, nil)
			sameTree(t, path, want)
		})
	}
}

// TestMapSizeDoesNotShow: a map that has to grow many times and one that never does give
// the same bytes, and the file keeps its own length as the map's size.
func TestMapSizeDoesNotShow(t *testing.T) {
	grown, roomy := filepath.Join(t.TempDir(), "x.lmdb"), filepath.Join(t.TempDir(), "x.lmdb")
	w := newBig(t, grown)
	feed(t, w, 0, nil)
	if w.images.mapSize <= 1<<20 {
		t.Fatal("the map did not have to grow")
	}
	w = newBig(t, roomy)
	for _, s := range w.stores() {
		s.mapSize = 1 << 40
		if err := s.env.SetMapSize(s.mapSize); err != nil {
			t.Fatal(err)
		}
	}
	feed(t, w, 0, nil)
	sameTree(t, grown, roomy)
	info, err := openTransactions(t, grown, nil).env.Info()
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(grown, dataName))
	if err != nil || info.MapSize != st.Size() {
		t.Errorf("map of %d bytes for a file of %d, %v", info.MapSize, st.Size(), err)
	}
}

// TestOverhead: what LMDB's pages add to images of a usual size.
func TestOverhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lmdb")
	m := bigMeta
	m.Schema = m.Schema[:2]
	w, err := Format{}.Create(path, m, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var bytes int64
	for i := range 500 {
		s := bigSample(i)
		s.Values = s.Values[:2]
		bytes += int64(len(s.Values[0].Data))
		if err := w.Write(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(path, dataName))
	if err != nil {
		t.Fatal(err)
	}
	// Half a page a value is LMDB's own.
	if over := st.Size() - bytes; over > 500*2600+(200<<10) {
		t.Errorf("%d bytes of images take %d", bytes, st.Size())
	}
}

func TestForeignEncodingOfAFieldIsRefused(t *testing.T) {
	w := newBig(t, filepath.Join(t.TempDir(), "x.lmdb"))
	defer w.Close()
	s := bigSample(0)
	s.Values[2] = formats.Value{Data: []byte("no png"), Encoding: formats.PNG}
	if err := w.Write(s); !errors.Is(err, formats.ErrSchema) {
		t.Errorf("got %v, want ErrSchema", err)
	}
	if err := w.Write(bigSample(0)); err != nil {
		t.Errorf("the sample after it: %v", err)
	}
}
