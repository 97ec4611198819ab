package hdf5

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// TestEveryBit flips a bit of each byte that is not a value, each bit of the footer, and of values some:
// Open or Check notices, Open only what all samples need, and no sample is read wrong, by Salvage neither.
func TestEveryBit(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	content := readFixture(t)
	whole, err := loadBytes(bytes.Clone(content), false)
	if err != nil {
		t.Fatal(err)
	}
	for at := range content {
		in, footer := placeAt(whole.in.extents, int64(at)), int64(at) >= whole.checksums.Size
		some := at%32 == 0
		if !some && (in == nil || !in.hasChecksum) && !footer {
			continue
		}
		for bit := range 8 {
			if !footer && bit != at/32%8 {
				continue
			}
			content[at] ^= 1 << bit
			d, err := loadBytes(content, false)
			needed := footer || in != nil && in.name == metaName
			if needed && err == nil || !needed && err != nil && (in == nil || in.name != indexName) {
				t.Errorf("bit %d of byte %d: Open: %v", bit, at, err)
			}
			if err == nil && crc32.Checksum(content[:whole.checksums.Size], checksum.Castagnoli) == whole.checksums.Blocks[0] {
				t.Errorf("bit %d of byte %d: Check does not notice", bit, at)
			}
			if err == nil {
				readAll(t, d)
			}
			if salvaged, err := loadBytes(content, true); some && err == nil {
				readAll(t, salvaged)
			}
			content[at] ^= 1 << bit
		}
	}
}

// placeAt is the dataset that a byte belongs to, or nil.
func placeAt(all extents, at int64) *extent {
	for i := range all {
		if p := &all[i]; at >= p.offset && at < p.offset+p.length() {
			return p
		}
	}
	return nil
}

func TestSalvage(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	place := func(name string) func(d *dataset) int64 {
		return func(d *dataset) int64 { return d.in.extents.find(name).offset }
	}
	end := func(back int64) func(d *dataset) int64 {
		return func(d *dataset) int64 { return int64(len(d.mapping.Data)) - back }
	}
	for name, c := range map[string]struct {
		at    func(d *dataset) int64
		opens bool // by Open
		left  int  // samples that Salvage finds; -1 if nothing
	}{
		"HDF5's superblock":       {func(*dataset) int64 { return 8 }, true, fixtureCount},
		"an image":                {place(bytesName), true, fixtureCount - 1},
		"a value of a field":      {place("pose"), true, fixtureCount - 1},
		"labels, which are twice": {place(labelsName), true, fixtureCount},
		"images' offsets":         {place(offsetsName), true, fixtureCount},
		"images' shapes":          {place(shapesName), true, fixtureCount},
		"a field's offsets":       {place("mask/" + offsetsName), true, 0},
		"a field's shapes":        {place("mask/" + shapesName), true, 0},
		"block checksums":         {func(d *dataset) int64 { return d.checksums.Size + 10 }, false, fixtureCount},
		"the manifest":            {place(manifestName), true, fixtureCount},
		"the index":               {place(indexName), false, fixtureCount},
		"dataset.json":            {place(metaName), false, -1},
		"the places":              {end(int64(trailerLength) + 5), false, -1},
		"the trailer":             {end(2), false, -1},
	} {
		t.Run(name, func(t *testing.T) {
			content := readFixture(t)
			d, err := loadBytes(content, false)
			if err != nil {
				t.Fatal(err)
			}
			content[c.at(d)] ^= 4
			if _, err := loadBytes(content, false); (err == nil) != c.opens || err != nil && !errors.Is(err, formats.ErrDamaged) {
				t.Errorf("Open: %v", err)
			}
			d, err = loadBytes(content, true)
			if c.left < 0 {
				if !errors.Is(err, formats.ErrDamaged) {
					t.Errorf("Salvage: %v, want ErrDamaged", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := readAll(t, d); n != c.left {
				t.Errorf("%d samples are left, want %d", n, c.left)
			}
		})
	}
}

// TestDamageCostsABlock: of a large table only what lies in a damaged block is lost, and nothing if the
// damage lies beside the table.
func TestDamageCostsABlock(t *testing.T) {
	const n, start = 3 * checksum.BlockSize / 8, 100
	whole := make([]byte, start+8*n)
	sums, err := checksumBlocks(bytes.NewReader(whole), int64(len(whole)), checksum.FileChecksums{}, 0, 0, make([]byte, checksum.BlockSize))
	if err != nil {
		t.Fatal(err)
	}
	const from, to = (checksum.BlockSize - start) / 8, (2*checksum.BlockSize - start + 7) / 8
	for name, c := range map[string]struct {
		flip     int
		sums     []uint32
		from, to int // of the rows that are lost
	}{
		"nothing":                {-1, sums.Blocks, 0, 0},
		"a row":                  {2*checksum.BlockSize - 1, sums.Blocks, from, to},
		"beside the table":       {start - 1, sums.Blocks, 0, 0},
		"no checksums":           {-1, nil, 0, 0},
		"a row and no checksums": {2*checksum.BlockSize - 1, nil, 0, n},
	} {
		t.Run(name, func(t *testing.T) {
			file := bytes.Clone(whole)
			if c.flip >= 0 {
				file[c.flip]++
			}
			e := &extent{name: "x", offset: start, dtype: formats.Int64, dims: []int{n}, hasChecksum: true, checksum: crc32.Checksum(whole[start:], checksum.Castagnoli)}
			r := &rows{extent: e, bytes: file[start:], size: 8, blocks: newBlocks(file, c.sums)}
			for i := range n {
				if _, err := r.at(i, 1); errors.Is(err, formats.ErrDamaged) != (i >= c.from && i < c.to) {
					t.Fatalf("row %d: %v", i, err)
				}
			}
		})
	}
}

// TestRowsDiffer: what the file says twice must be the same, though all checksums are right.
func TestRowsDiffer(t *testing.T) {
	content := readFixture(t)
	whole, err := loadBytes(content, false)
	if err != nil {
		t.Fatal(err)
	}
	which := slices.IndexFunc(whole.in.extents, func(p extent) bool { return p.name == offsetsName })
	d, err := loadBytes(madeUp(content, whole, uint8(which), 8, []byte{1}), false)
	if err != nil {
		t.Fatal(err)
	}
	var damage []formats.Damage
	err = d.checkRows(t.Context(), func(x formats.Damage) { damage = append(damage, x) })
	if err != nil || len(damage) != 1 || !strings.Contains(damage[0].Cause, offsetsName) {
		t.Errorf("Check reports %+v, %v", damage, err)
	}
}

func TestCutShort(t *testing.T) {
	content := readFixture(t)
	for _, n := range []int{len(content) / 2, len(content) - 1} {
		path := filepath.Join(t.TempDir(), "x.h5")
		if err := os.WriteFile(path, content[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Format{}.Salvage(path)
		cut := err != nil && (strings.Contains(err.Error(), "truncated") || strings.Contains(err.Error(), "cut off"))
		if !cut || !strings.Contains(err.Error(), "nothing can be salvaged") {
			t.Errorf("cut to %d of %d bytes: %v", n, len(content), err)
		}
	}
}

func TestChecks(t *testing.T) {
	content := readFixture(t)
	path := filepath.Join(t.TempDir(), "x.h5")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	ds, err := Format{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	all := ds.(*dataset).in.extents
	count := func(check func(report func(formats.Damage)) error) (n int) {
		if err := check(func(formats.Damage) { n++ }); err != nil {
			t.Error(err)
		}
		return n
	}
	checks := func(what string, quick, full int) {
		t.Helper()
		c := ds.(formats.Checker)
		q := count(func(report func(formats.Damage)) error { return c.CheckQuick(context.Background(), report) })
		f := count(func(report func(formats.Damage)) error {
			return c.Check(context.Background(), formats.Portion{}, 2, report)
		})
		if q != quick || f != full {
			t.Errorf("%s: CheckQuick reports %d and Check %d, want %d and %d", what, q, f, quick, full)
		}
	}
	flip := func(at int64) {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		content[at] ^= 1
		if _, err := f.WriteAt(content[at:at+1], at); err != nil {
			t.Fatal(err)
		}
	}
	checks("undamaged", 0, 0)
	flip(all.find(bytesName).offset)
	checks("an image", 0, 1)
	flip(all.find(bytesName).offset)
	flip(all.find(offsetsName).offset)
	checks("offsets", 1, 1)
	flip(all.find(offsetsName).offset)
	if err := os.Truncate(path, int64(len(content))/2); err != nil {
		t.Fatal(err)
	}
	checks("cut", 1, 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	checks("removed", 1, 1)
}

func TestElements(t *testing.T) {
	const huge = 1 << 40
	for _, c := range []struct {
		dims  []int
		limit int64
		want  int64
		ok    bool
	}{
		{nil, 1, 1, true},
		{nil, 0, 0, false},
		{[]int{2, 3}, 6, 6, true},
		{[]int{2, 3}, 5, 0, false},
		{[]int{huge, 0, huge}, 0, 0, true},
		{[]int{-1, 0}, 9, 0, false},
		{[]int{-2, -3}, 9, 0, false},
		{[]int{huge, huge}, 1 << 62, 0, false},
		{[]int{1 << 32, 1 << 32}, 1 << 62, 0, false},
	} {
		if n, ok := elements(c.dims, c.limit); ok != c.ok || ok && n != c.want {
			t.Errorf("%v of at most %d: %d, %v", c.dims, c.limit, n, ok)
		}
	}
}
