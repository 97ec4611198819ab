package verify_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/verify"
)

// Arguments that make no sense are errors that name them.
func TestMisuse(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	var none context.Context
	run := func(ctx context.Context, reg formats.Registry, path string, o verify.Options) error {
		r, err := verify.Run(ctx, reg, path, o)
		if err == nil || r != nil {
			t.Errorf("%+v, %v", r, err)
			return errors.New("no error")
		}
		return err
	}
	path := packed(dir)
	for says, err := range map[string]error{
		"verify.Run: ctx is nil":            run(none, dsconv.Formats(), path, verify.Options{}),
		"the path is empty":                 run(ctx, dsconv.Formats(), "", verify.Options{}),
		"verify.Run: Options.Workers is -3": run(ctx, dsconv.Formats(), path, verify.Options{Workers: -3}),
	} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	missing, odd := filepath.Join(dir, "none.tar"), filepath.Join(dir, "notes.md")
	if err := os.WriteFile(odd, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ is, err error }{
		{context.Canceled, run(cancelled, dsconv.Formats(), path, verify.Options{})},
		{fs.ErrNotExist, run(ctx, dsconv.Formats(), missing, verify.Options{})},
		{formats.ErrNotDataset, run(ctx, dsconv.Formats(), missing, verify.Options{})},
		{formats.ErrUnknownFormat, run(ctx, dsconv.Formats(), odd, verify.Options{})},
		{verify.ErrNoChecksums, run(ctx, dsconv.Formats(), filepath.Join(dir, "images"), verify.Options{})},
	} {
		if !errors.Is(c.err, c.is) {
			t.Errorf("%v is not: %v", c.err, c.is)
		}
	}
}

// The report of a sound dataset, and of a damaged one, describes the dataset, for a repair.
func TestReport(t *testing.T) {
	path := packed(t.TempDir())
	r, err := verify.Run(context.Background(), dsconv.Formats(), path, verify.Options{})
	if err != nil || !r.Sound() || r.Checked != 2 || r.Meta == nil || r.Meta.Count != 2 || r.NoTable {
		t.Fatalf("%+v, %v", r, err)
	}
	damage(path)
	r, err = verify.Run(context.Background(), dsconv.Formats(), path, verify.Options{})
	if err != nil || r.Sound() || len(r.Blocks) != 1 || r.Meta == nil || r.Meta.Recipe["encode"] == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A row that cannot be read is damage of the dataset, and no reason to stop: the manifest has it too.
func TestDamagedIndex(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, quick := range []bool{false, true} {
		path := packed(t.TempDir())
		index := filepath.Join(path+".dsconv", "index")
		b, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		b[2*4096] ^= 1 // in the first row
		if err := os.WriteFile(index, b, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := verify.Run(context.Background(), dsconv.Formats(), path, verify.Options{Quick: quick})
		if err != nil || r.Checked != 2 || len(r.Samples) > 0 || len(r.Blocks) != 1 || len(r.Dataset) != 1 || !strings.Contains(r.Dataset[0], index) {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// The progress ends with all samples, whether their images are read or not.
func TestProgress(t *testing.T) {
	path := packed(t.TempDir())
	for _, quick := range []bool{false, true} {
		var last verify.Progress
		r, err := verify.Run(t.Context(), dsconv.Formats(), path, verify.Options{Quick: quick, Progress: func(p verify.Progress) { last = p }})
		if err != nil || r.Checked == 0 || last.Done != r.Checked || last.Total != r.Checked || last.Bytes == 0 {
			t.Errorf("quick %v: %v: %+v", quick, err, last)
		}
	}
}
