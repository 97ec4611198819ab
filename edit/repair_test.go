package edit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsconv/dsconv"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/verify"
)

// Damaged samples that are copied do not get a new checksum.
func TestDamageIsNotCopied(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		d := open(t, path)
		var keys []string
		for i := range d.Len() / 2 {
			in, err := d.Info(2 * i)
			f.must(err)
			keys = append(keys, in.Key)
		}
		f.must(d.Close())
		rot(t, largest(t, filepath.Dir(path)))
		if _, err := edit.Remove(ctx, dsconv.Formats(), path, keys, edit.Options{}); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("damaged samples were written again: %v", err)
		}
	})
}

// largest returns the largest data file, which is not one that describes the dataset.
func largest(t *testing.T, dir string) string {
	t.Helper()
	name, size := "", 0
	for n, content := range formatcheck.Tree(t, dir) {
		if len(content) > size && !strings.Contains(n, "manifest") && filepath.Base(n) != "index" {
			name, size = n, len(content)
		}
	}
	return filepath.Join(dir, name)
}

// rot flips bits in the images in a file.
func rot(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := len(b) / 8; at < len(b)/2; at += 97 {
		b[at] ^= 0x10
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Repair restores the same bytes, from the folder and from another dataset.
func TestRepair(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		before := formatcheck.Tree(t, filepath.Dir(path))
		f.put("cat/001.jpg", 4711) // not what it was
		backup := filepath.Join(t.TempDir(), "backup-%03d.tar")
		_, err := edit.Merge(ctx, dsconv.Formats(), backup, []formats.Dataset{open(t, path).Dataset}, edit.MergeOptions{})
		f.must(err)
		rot(t, largest(t, filepath.Dir(path)))

		found := repair(t, path, openFolder(t, f.root, folder.Config{}), true)
		if len(found.Restored)+len(found.Lost) == 0 {
			t.Fatal("no damage was found")
		}
		for _, l := range found.Lost {
			if l.Key != "cat/001" {
				t.Errorf("lost: %+v", l)
			}
		}
		found = repair(t, path, open(t, backup).Dataset, false)
		if len(found.Lost) > 0 || len(found.Restored) == 0 {
			t.Fatalf("found %+v", found)
		}
		wrote(t, found.Report, nil)
		sound(t, open(t, path))
		if !strings.HasSuffix(path, ".lmdb") {
			formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(path)), before)
		}
	})
}

func repair(t *testing.T, path string, src formats.Dataset, dry bool) *edit.RepairReport {
	t.Helper()
	r, err := edit.Repair(ctx, dsconv.Formats(), path, src, edit.RepairOptions{Options: edit.Options{DryRun: dry}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ending is a source whose samples cannot be read, for a reason that is not the samples' fault.
type ending struct {
	formats.Dataset
	err error
}

func (s ending) Read(int, *formats.Sample) error {
	if s.err == nil {
		panic("not a sample's fault")
	}
	return s.err
}

func (s ending) Check(context.Context, formats.Portion, int, func(formats.Damage)) error { return nil }

func (s ending) CheckQuick(context.Context, func(formats.Damage)) error { return nil }

// opening is a format whose dataset is s.
type opening struct {
	formats.WritableFormat
	s ending
}

func (o opening) Open(string) (formats.Dataset, error) { return o.s, nil }

func (o opening) Salvage(string) (formats.Dataset, error) { return o.s, nil }

// An error that is not a sample's fault ends the command. No sample then counts as lost, changed or
// damaged, which would make the user remove it or pack it again.
func TestWhatIsNotTheSamplesFaultEndsTheRun(t *testing.T) {
	f := pets(t, 4)
	v := variant{name: "x.tar"}
	path := v.pack(t, f.root, folder.Config{})
	src := openFolder(t, f.root, folder.Config{})
	memory := fmt.Errorf("read: %w", syscall.ENOMEM)
	ds, err := formatOf(t, path).Open(path)
	f.must(err)
	unreadable := formats.Registry{opening{formatOf(t, path), ending{ds, memory}}}
	if r, err := verify.Run(ctx, unreadable, path, verify.Options{}); !errors.Is(err, memory) {
		t.Errorf("verify: %+v, %v", r, err)
	}
	f.touch("cat/001.jpg", time.Now())
	now := openFolder(t, f.root, folder.Config{})
	if found, err := edit.Add(ctx, dsconv.Formats(), path, ending{now, memory}, edit.AddOptions{}); !errors.Is(err, memory) {
		t.Errorf("add: found %+v, %v", found, err)
	}
	rot(t, largest(t, filepath.Dir(path)))
	for _, cause := range []error{memory, pixel.ErrMemory, nil} {
		found, err := edit.Repair(ctx, dsconv.Formats(), path, ending{src, cause}, edit.RepairOptions{})
		if panicked := new(guard.PanicError); err == nil || cause != nil && !errors.Is(err, cause) || cause == nil && !errors.As(err, &panicked) {
			t.Errorf("repair, %v: found %+v, %v", cause, found, err)
		}
	}
	o := edit.RepairOptions{Found: &verify.Report{Dataset: []string{"damaged"}, NoTable: true}}
	if found, err := edit.Repair(ctx, unreadable, path, src, o); !errors.Is(err, memory) {
		t.Errorf("repair of what cannot be read: found %+v, %v", found, err)
	}
}
