package edit_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// call is an edit with the arguments that each has.
type call func(ctx context.Context, reg formats.Registry, path string, o edit.Options) error

// calls are all edits of a dataset that change one of its samples. src is its source.
func calls(src formats.Dataset) map[string]call {
	return map[string]call{
		"Add": func(ctx context.Context, reg formats.Registry, path string, o edit.Options) error {
			_, err := edit.Add(ctx, reg, path, src, edit.AddOptions{Options: o})
			return err
		},
		"Remove": func(ctx context.Context, reg formats.Registry, path string, o edit.Options) error {
			_, err := edit.Remove(ctx, reg, path, []string{"cat/000"}, o)
			return err
		},
		"Relabel": func(ctx context.Context, reg formats.Registry, path string, o edit.Options) error {
			rows := map[string][]string{"cat/000": {"dog"}}
			_, err := edit.Relabel(ctx, reg, path, edit.Labels{Columns: []string{"label"}, Rows: rows}, o)
			return err
		},
		"Repair": func(ctx context.Context, reg formats.Registry, path string, o edit.Options) error {
			_, err := edit.Repair(ctx, reg, path, src, edit.RepairOptions{Options: o})
			return err
		},
	}
}

// What every edit takes is checked by every edit: the error names it, and nothing is changed.
func TestMisuse(t *testing.T) {
	f := pets(t, 2)
	path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
	before := formatcheck.Tree(t, filepath.Dir(path))
	src := openFolder(t, f.root, folder.Config{})
	all4, usual := calls(src), edit.Options{}
	all4["Merge"] = func(ctx context.Context, reg formats.Registry, path string, o edit.Options) error {
		_, err := edit.Merge(ctx, reg, path, []formats.Dataset{src}, edit.MergeOptions{Options: o, Replace: true})
		return err
	}
	var none context.Context
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, do := range all4 {
		for says, err := range map[string]error{
			"ctx is nil":                       do(none, dsconv.Formats(), path, usual),
			"the path of the dataset is empty": do(ctx, dsconv.Formats(), "", usual),
			"Options.Workers is -3":            do(ctx, dsconv.Formats(), path, edit.Options{Workers: -3}),
			"Options.Checkpoint is -1":         do(ctx, dsconv.Formats(), path, edit.Options{Checkpoint: -1}),
		} {
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "edit."+name+": ") {
				t.Errorf("%s: %v does not say %q", name, err, says)
			}
		}
		if err := do(cancelled, dsconv.Formats(), path, usual); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", name, err)
		}
		if err := do(ctx, dsconv.Formats(), f.root, usual); err == nil {
			t.Errorf("%s: a folder of images is changed", name)
		}
		if missing := filepath.Join(f.root, "none.tar"); name != "Merge" {
			if err := do(ctx, dsconv.Formats(), missing, usual); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
				t.Errorf("%s: a missing path: %v", name, err)
			}
		}
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(path)), before)
}

// What only one edit takes.
func TestMisuseOfOneEdit(t *testing.T) {
	f := pets(t, 2)
	path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
	before := formatcheck.Tree(t, filepath.Dir(path))
	src, reg := openFolder(t, f.root, folder.Config{}), dsconv.Formats()
	add := func(src formats.Dataset, o edit.AddOptions) error {
		_, err := edit.Add(ctx, reg, path, src, o)
		return err
	}
	merge := func(o edit.MergeOptions, sources ...formats.Dataset) error {
		_, err := edit.Merge(ctx, reg, filepath.Join(filepath.Dir(path), "merged.tar"), sources, o)
		return err
	}
	relabel := func(columns []string, rows map[string][]string) error {
		_, err := edit.Relabel(ctx, reg, path, edit.Labels{Name: "new.csv", Columns: columns, Rows: rows}, edit.Options{})
		return err
	}
	for says, err := range map[string]error{
		"edit.Add: ShardSize is -1":           add(src, edit.AddOptions{ShardSize: -1}),
		"edit.Merge: there are no sources":    merge(edit.MergeOptions{}),
		"edit.Merge: Paths has 1 paths for 2": merge(edit.MergeOptions{Paths: []string{"a"}}, src, src),
		"edit.Merge: Zstd is -1":              merge(edit.MergeOptions{Zstd: -1}, src),
		"new.csv: the table has no columns":   relabel(nil, nil),
		`new.csv: unknown column "colour"`:    relabel([]string{"colour"}, nil),
		`the row of "cat/000" has 2 cells`:    relabel([]string{"label"}, map[string][]string{"cat/000": {"a", "b"}}),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	for name, err := range map[string]error{"no keys": removeNone(path), "itself": add(open(t, path).Dataset, edit.AddOptions{})} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(path)), before)
	// A dataset and itself are one.
	a := open(t, path).Dataset
	twice := filepath.Join(t.TempDir(), "twice.tar")
	if r, err := edit.Merge(ctx, reg, twice, []formats.Dataset{a, a}, edit.MergeOptions{}); err != nil || r.Samples != 4 || r.Twice != 4 {
		t.Errorf("merged with itself: %+v, %v", r, err)
	}
	if _, err := edit.Merge(ctx, reg, path, []formats.Dataset{a}, edit.MergeOptions{}); !errors.Is(err, formats.ErrExists) {
		t.Errorf("merged into itself: %v", err)
	}
}

func removeNone(path string) error {
	r, err := edit.Remove(ctx, dsconv.Formats(), path, nil, edit.Options{})
	if err == nil && !r.UpToDate {
		err = errors.New("something was written")
	}
	return err
}

// An edit that is cancelled while it runs leaves the dataset as it was, and nothing but its unfinished
// version. A dry run leaves nothing.
func TestCancelledEdit(t *testing.T) {
	f := pets(t, 20)
	path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
	before := formatcheck.Tree(t, filepath.Dir(path))
	f.put("cat/new.jpg", 7)
	for name, do := range calls(openFolder(t, f.root, folder.Config{})) {
		if name == "Repair" {
			continue // there is no damage
		}
		if err := do(ctx, dsconv.Formats(), path, edit.Options{DryRun: true}); err != nil {
			t.Errorf("%s: dry run: %v", name, err)
		}
		formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(path)), before)
		stopped, cancel := context.WithCancel(ctx)
		o := edit.Options{Workers: 1, Discard: true, Checkpoint: 1, Progress: func(convert.Progress) { cancel() }}
		err := do(stopped, dsconv.Formats(), path, o)
		if cancel(); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", name, err)
		}
		f.must(os.RemoveAll(path + sidecar.PartialSuffix))
		formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(path)), before)
	}
}
