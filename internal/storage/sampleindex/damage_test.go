package sampleindex

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// flips is the number of bits that are flipped: 300, or DSCONV_FLIPS.
func flips(t *testing.T) int {
	t.Helper()
	s := os.Getenv("DSCONV_FLIPS")
	if s == "" {
		return 300
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("DSCONV_FLIPS=%q is no number of flips", s)
	}
	return n
}

// A flipped bit is an error of Open or found by Check, and what is read is what was written or an error.
func TestFlippedBits(t *testing.T) {
	n := flips(t)
	r := rand.New(rand.NewPCG(7, 7))
	rows := someRows(r, 900, 2, 1)
	b := write(t, rows, []string{"a", "b"}, 1)
	refused := 0
	for k := range n {
		from := k * len(b) / n
		at, bit := from+r.IntN(max(1, (k+1)*len(b)/n-from)), r.IntN(8)
		what := fmt.Sprintf("bit %d of byte %d of %d", bit, at, len(b))
		b[at] ^= 1 << bit
		x, err := Open(b, "index")
		if errors.Is(err, formats.ErrDamaged) {
			refused++
		} else if err != nil {
			t.Errorf("%s: %v is no damage", what, err)
		} else {
			checkDamaged(t, what, x, rows)
		}
		b[at] ^= 1 << bit
	}
	t.Logf("%d bits flipped of %d bytes: %d indexes were not opened", n, len(b), refused)
}

// checkDamaged checks that Check finds damage in x, and that no row is another than one of rows.
func checkDamaged(t *testing.T, what string, x *Index, rows []Row) {
	t.Helper()
	found := 0
	if err := x.Check(t.Context(), func(d formats.Damage) {
		if found++; d.File != "index" || d.Length == 0 || d.Cause == "" {
			t.Errorf("%s: %+v", what, d)
		}
	}); err != nil || found == 0 {
		t.Errorf("%s: Check found %d: %v", what, found, err)
	}
	isDamage := func(err error) bool {
		if err != nil && !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%s: %v is no damage", what, err)
		}
		return err != nil
	}
	for i := range rows {
		if in, err := x.Info(i); !isDamage(err) && !reflect.DeepEqual(in, rows[i].Info) {
			t.Errorf("%s: row %d reads as %+v, written was %+v", what, i, in, rows[i].Info)
		}
		if e, err := x.At(i); !isDamage(err) && (e.Location() != rows[i].Location || e.Field(0) != rows[i].Fields[0]) {
			t.Errorf("%s: row %d is at %+v, written was %+v", what, i, e.Location(), rows[i].Location)
		}
	}
	i := len(what) * 13 % len(rows)
	if k, ok, err := x.Find(rows[i].Key); !isDamage(err) && (!ok || k != i) {
		t.Errorf("%s: the key of row %d is found at %d, %v", what, i, k, ok)
	}
	if data, stride, err := x.Labels(); !isDamage(err) {
		for i := range rows {
			if got := le64(data[i*stride:]); got != rows[i].Label {
				t.Errorf("%s: label %d is %d, written was %d", what, i, got, rows[i].Label)
			}
		}
	}
	for i := range rows {
		if indices, all, ok, err := x.Members(rows[i].Split); !isDamage(err) && ok && !all && !slices.Contains(indices, int32(i)) {
			t.Errorf("%s: row %d is not in its split", what, i)
		}
	}
}

// sign makes the bytes a file whose checksums are right and whose sections end where b does: the index
// that somebody made on purpose.
func sign(b []byte) []byte {
	b = append(slices.Clone(b), make([]byte, roundUp(max(int64(len(b)), 2*pageSize))-int64(len(b)))...)
	h := header{
		rows: int(binary.LittleEndian.Uint64(b[8:])), id: ID(b[16:]), description: int64(binary.LittleEndian.Uint64(b[32:])),
		data: int64(len(b) / pageSize),
	}
	first, _ := levels(h.data)
	for k, from := range first {
		var sums []byte
		for page := b[from*pageSize:]; len(page) > 0; page = page[pageSize:] {
			h.root = crc32.Checksum(page[:pageSize], checksum.Castagnoli)
			sums = binary.LittleEndian.AppendUint32(sums, h.root)
		}
		if k+1 < len(first) {
			b = append(append(b, sums...), make([]byte, roundUp(int64(len(sums)))-int64(len(sums)))...)
		}
	}
	copy(b, h.encode())
	return b
}

// TestLabelsOfTheListAndTheRows: verify finds it if an index that somebody made has others in its list.
func TestLabelsOfTheListAndTheRows(t *testing.T) {
	rows := []Row{{Info: formats.Info{Key: "a", Label: 3}}, {Info: formats.Info{Key: "b", Label: 1 << 40}}}
	b := write(t, rows, nil, 0)
	x := open(t, b)
	made := slices.Clone(b[:x.first[1]*pageSize])
	made[x.labels.at+8]++
	x = open(t, sign(made))
	if err := x.Compare(0, &rows[0], true); err != nil {
		t.Error(err)
	}
	if err := x.Compare(1, &rows[1], true); !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("a label that differs in the list: %v", err)
	}
}

// Whatever the bytes, nothing but an error happens; also if all checksums are right.
func FuzzOpen(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 1))
	for k := range 8 {
		columns, fields := []string{"a", "b"}[:k%3], k%2
		rows := someRows(r, 1+k*20, len(columns), fields)
		b := write(f, rows, columns, fields)
		f.Add(b, false)
		x := open(f, b)
		b = b[:x.first[1]*pageSize] // without the checksums, which sign adds
		if open(f, sign(b)).Len() != len(rows) {
			f.Fatal("a signed index is not what it was")
		}
		f.Add(b, true)
	}
	f.Add([]byte(magic), false)
	f.Fuzz(func(t *testing.T, b []byte, signed bool) {
		if signed {
			b = sign(b)
		}
		x, err := Open(b, "index")
		if err != nil {
			return
		}
		_ = x.Check(context.Background(), func(formats.Damage) {})
		var smp formats.Sample
		for k := range min(x.Len(), 200) {
			i := k
			if k%2 == 1 {
				i = x.Len() - 1 - k
			}
			if e, err := x.At(i); err == nil {
				for k := range x.fields {
					e.Field(k)
				}
				e.Location()
			}
			in, err := x.Info(i)
			if key, keyErr := x.KeyOf(i); err == nil && (keyErr != nil || key != in.Key || len(key) == 0) {
				t.Errorf("row %d has the key %q: %v, Info says %q", i, key, keyErr, in.Key)
			}
			if err == nil {
				_, _, _ = x.Find(in.Key)
				if e, err := x.At(i); err == nil {
					_ = e.Fill(&smp)
				}
			}
		}
		if _, err := x.At(x.Len()); err == nil {
			t.Error("an entry behind the last one")
		}
		if data, stride, err := x.Labels(); err == nil && x.Len() > 0 {
			_ = le64(data[(x.Len()-1)*stride:])
		}
		splits := x.splits
		for _, split := range splits {
			_, _, _, _ = x.Members(split)
		}
	})
}
