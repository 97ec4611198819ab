package staging_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

func TestAnUnfinishedPackIsCalledSo(t *testing.T) {
	dir := t.TempDir()
	for _, open := range []string{"x-%06d.rec", "x-{000000..000003}.rec", "y.rec", "z-%d.rec", "z-{0..3}.rec"} {
		made := strings.NewReplacer("{000000..000003}", "%06d", "{0..3}", "%d").Replace(open)
		s, err := staging.CreateShards(filepath.Join(dir, made), testMeta, formats.CreateOptions{}, nil)
		if err != nil && !errors.Is(err, formats.ErrPartial) {
			t.Fatal(err)
		}
		if err == nil {
			write(t, s, 0, 3)
			if err := s.Checkpoint(nil); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		_, err = sharded.OpenRecords(filepath.Join(dir, open))
		if !errors.Is(err, formats.ErrNotDataset) || !strings.Contains(err.Error(), "it is unfinished") {
			t.Errorf("%s: %v", open, err)
		}
	}
	if _, err := sharded.OpenRecords(filepath.Join(dir, "none.rec")); !errors.Is(err, formats.ErrNotDataset) || strings.Contains(err.Error(), "unfinished") {
		t.Errorf("nothing is there: %v", err)
	}
}

// madeUp writes a dataset of one file whose manifest has those rows; its checksums check.
func madeUp(t *testing.T, rows ...manifest.Row) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.rec")
	side := path + ".dsconv"
	if err := errors.Join(os.Mkdir(side, 0o755), os.WriteFile(path, make([]byte, 100), 0o644)); err != nil {
		t.Fatal(err)
	}
	sums, err := checksum.OfFile(path, "a.rec", -1)
	if err != nil {
		t.Fatal(err)
	}
	m := testMeta
	m.Files = []string{"a.rec"}
	s := staging.MadeUp(m)
	for i := range rows {
		if err := s.AppendRow(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.WriteSidecar(side, "a.rec.dsconv/", checksum.Checksums{sums}, nil, sidecar.Places{}); err != nil {
		t.Fatal(err)
	}
	return path
}

func row(key string, shard int, offset, length int64) manifest.Row {
	return manifest.Row{Info: formats.Info{Key: key}, Location: sampleindex.Location{Shard: shard, Offset: offset, Length: length}}
}

func TestRowsThatNoWriterWritesAreRefused(t *testing.T) {
	for what, bad := range map[string]manifest.Row{
		"in shard 1, but there are 1":  row("b", 1, 0, 1),
		"in shard -1, but there are 1": row("b", -1, 0, 1),
		"101 bytes":                    row("b", 0, 0, 101),
		"at byte -5":                   row("b", 0, -5, 1),
		"-1 bytes":                     row("b", 0, 50, -1),
		"but the file has 100 bytes":   row("b", 0, 1<<62, 1<<62),
		"NUL":                          row("b\x00", 0, 0, 1),
		"path element":                 row("../b", 0, 0, 1),
		"not valid UTF":                row("b\xff", 0, 0, 1),
		"it is empty":                  row("", 0, 0, 1),
		"512 bytes":                    row(strings.Repeat("b", 512), 0, 0, 1),
		`element ""`:                   row("/b", 0, 0, 1),
		`element "."`:                  row("b/.", 0, 0, 1),
		`element ".."`:                 row("b/../c", 0, 0, 1),
	} {
		r, err := sharded.OpenRecords(madeUp(t, row("a", 0, 0, 50), bad))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			nothing := func(sampleindex.Entry, []byte) error { return nil }
			_, described := r.Info(i)
			err = errors.Join(err, described, r.ReadRecord(i, nothing))
		}
		if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckQuickFindsRecordsThatOverlap(t *testing.T) {
	for want, rows := range map[string][]manifest.Row{
		"":                        {row("a", 0, 50, 50), row("b", 0, 0, 50)},
		`"b" and key "a" overlap`: {row("a", 0, 49, 50), row("b", 0, 0, 50)},
		`key "a" and key "b" o`:   {row("a", 0, 10, 50), row("b", 0, 10, 50)},
	} {
		r, err := sharded.OpenRecords(madeUp(t, rows...))
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		if err := r.CheckQuick(context.Background(), func(d formats.Damage) { found = append(found, d.Cause) }); err != nil {
			t.Fatal(err)
		}
		if want == "" && len(found) != 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0], want)) {
			t.Errorf("want %q: %q", want, found)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A bit of what describes the dataset that is flipped is an error of Open that names the file.
func TestOpenChecksWhatDescribesTheDataset(t *testing.T) {
	path := madeUp(t, row("a", 0, 0, 50))
	for _, name := range []string{manifest.MetaName, checksum.ChecksumsName} {
		file := filepath.Join(path+".dsconv", name)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(content); i += 1 + len(content)/150 {
			content[i] ^= 1 << (i % 8)
			if err := os.WriteFile(file, content, 0o644); err != nil {
				t.Fatal(err)
			}
			content[i] ^= 1 << (i % 8)
			for how, open := range map[string]func(string) (*sharded.Records, error){"open": sharded.OpenRecords, "salvage": sharded.SalvageRecords} {
				if _, err := open(path); !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), name) {
					t.Fatalf("%s: byte %d of %s: %v", how, i, name, err)
				}
			}
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := sharded.OpenRecords(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
}
