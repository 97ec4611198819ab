package edit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// unreadable is a dataset of which one sample, or each if the key is "", cannot be read.
type unreadable struct {
	formats.Dataset
	key string
	err error
}

func (u unreadable) Read(i int, s *formats.Sample) error {
	in, err := u.Info(i)
	if err == nil && (u.key == "" || in.Key == u.key) {
		return fmt.Errorf("read %s: %w", in.Source.Path, u.err)
	}
	return u.Dataset.Read(i, s)
}

// Add ends at a file that cannot be read, be it compared or packed, and the dataset stays as it is.
func TestAddEndsAtWhatCannotBeRead(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EACCES, syscall.ENOTCONN, syscall.ESTALE, syscall.ETIMEDOUT} {
		for name, key := range map[string]string{"a file that is compared": "cat/002", "a changed file": "cat/001", "a new file": "dog/900"} {
			f := pets(t, 8)
			path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
			f.put("cat/001.jpg", 777)
			f.put("dog/900.jpg", 778)
			before, err := os.ReadFile(path)
			f.must(err)
			src := openFolder(t, f.root, folder.Config{})
			_, err = edit.Add(ctx, dsconv.Formats(), path, unreadable{src, key, errno}, edit.AddOptions{Hash: true, MaxSkipped: "100%"})
			after, rerr := os.ReadFile(path)
			f.must(rerr)
			if !errors.Is(err, errno) || !slices.Equal(before, after) {
				t.Errorf("%s: %v: %v", name, errno, err)
			}
			if r, err := edit.Add(ctx, dsconv.Formats(), path, src, edit.AddOptions{Hash: true}); err != nil || r.Changed != 1 || r.New != 1 || r.Samples != 17 {
				t.Errorf("%s: again: %+v, %v", name, r, err)
			}
		}
	}
}

// A sample whose new file is damaged stays as it was, in every format.
func TestDamagedFileKeepsTheOldSample(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 8)
		path := v.pack(t, f.root, folder.Config{})
		was := contents(t, path)
		f.put("cat/003.jpg", 777)
		f.must(os.WriteFile(filepath.Join(f.root, "dog/002.jpg"), []byte("no image"), 0o644))
		f.must(os.WriteFile(filepath.Join(f.root, "dog/900.jpg"), nil, 0o644))
		r, err := edit.Add(ctx, dsconv.Formats(), path, openFolder(t, f.root, folder.Config{}), edit.AddOptions{})
		f.must(err)
		now := contents(t, path)
		if !slices.Equal(r.KeptOld, []string{"dog/002"}) || r.Changed != 1 || r.New != 0 || len(r.Run.Kept) != 1 || len(r.Run.Skipped) != 1 {
			t.Errorf("%+v, kept %v, skipped %v", r.Added, r.Run.Kept, r.Run.Skipped)
		}
		if now["dog/002"] != was["dog/002"] || now["cat/003"] == was["cat/003"] || len(now) != 16 {
			t.Errorf("%d samples", len(now))
		}
		// It is tried again until its file is mended.
		f.put("dog/002.jpg", 779)
		r, err = edit.Add(ctx, dsconv.Formats(), path, openFolder(t, f.root, folder.Config{}), edit.AddOptions{})
		if err != nil || r.Changed != 1 || len(r.KeptOld) != 0 {
			t.Errorf("mended: %+v, %v", r, err)
		}
	})
}

// contents returns the bytes of each sample's image by key, checked.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	ds := open(t, path)
	all := map[string]string{}
	var s formats.Sample
	for i := range ds.Len() {
		if err := ds.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		all[s.Key] = fmt.Sprint(s.Split, s.Columns, string(s.Values[1].Data), string(s.Values[0].Data))
	}
	return all
}

// Repair must not call samples lost, which a user would then remove, because the source cannot be read now.
func TestRepairEndsAtWhatCannotBeRead(t *testing.T) {
	f := pets(t, 8)
	path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
	rot(t, largest(t, filepath.Dir(path)))
	src := openFolder(t, f.root, folder.Config{})
	if _, err := edit.Repair(ctx, dsconv.Formats(), path, unreadable{src, "", syscall.ESTALE}, edit.RepairOptions{}); !errors.Is(err, syscall.ESTALE) {
		t.Error(err)
	}
	if r, err := edit.Repair(ctx, dsconv.Formats(), path, src, edit.RepairOptions{}); err != nil || len(r.Lost) != 0 || len(r.Restored) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
