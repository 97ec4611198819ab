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

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/formattest"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/verify"
)

// Damaged samples that are copied do not get a new checksum.
func TestDamageIsNotCopied(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		rot(t, largest(t, filepath.Dir(path)))
		d := target(t, path)
		var keys []string
		for i := range d.Len() / 2 {
			in, err := d.Info(2 * i)
			f.must(err)
			keys = append(keys, in.Key)
		}
		p, err := edit.Remove(d, keys, convert.Options{})
		f.must(err)
		if _, err := p.Run(context.Background()); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("damaged samples were written again: %v", err)
		}
		f.must(d.Close())
	})
}

// largest returns the largest data file.
func largest(t *testing.T, dir string) string {
	t.Helper()
	name, size := "", 0
	for n, content := range formattest.Tree(t, dir) {
		if len(content) > size && !strings.Contains(n, "manifest") {
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
	for at := len(b) / 3; at < len(b)/2; at += 97 {
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
		before := formattest.Tree(t, filepath.Dir(path))
		f.put("cat/001.jpg", 4711) // not what it was
		backup := filepath.Join(t.TempDir(), "backup-%03d.tar")
		p, _, err := edit.Merge([]formats.Dataset{target(t, path)}, []string{"A"}, formatOf(t, backup), backup, convert.Options{})
		f.must(err)
		run(t, p)
		rot(t, largest(t, filepath.Dir(path)))

		_, found, _ := repair(t, path, openFolder(t, f.root, folder.Config{}))
		if len(found.Restored)+len(found.Lost) == 0 {
			t.Fatal("no damage was found")
		}
		for _, l := range found.Lost {
			if l.Key != "cat/001" {
				t.Errorf("lost: %+v", l)
			}
		}
		p, found, d := repair(t, path, target(t, backup))
		if len(found.Lost) > 0 || len(found.Restored) == 0 {
			t.Fatalf("found %+v", found)
		}
		run(t, p)
		f.must(d.Close())
		sound(t, target(t, path))
		if !strings.HasSuffix(path, ".lmdb") {
			formattest.SameTrees(t, formattest.Tree(t, filepath.Dir(path)), before)
		}
	})
}

func repair(t *testing.T, path string, src formats.Dataset) (*convert.Plan, *edit.Repaired, *edit.Target) {
	t.Helper()
	d, err := edit.OpenDamaged(formatOf(t, path), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	var damage []formats.Damage
	if err := d.Dataset.(formats.Checker).Check(context.Background(), formats.Portion{}, 2, func(x formats.Damage) { damage = append(damage, x) }); err != nil {
		t.Fatal(err)
	}
	p, found, err := edit.Repair(context.Background(), d, damage, false, src, convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p, found, d
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
	formats.Format
	s ending
}

func (o opening) Open(string) (formats.Dataset, error) { return o.s, nil }

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
	if r, err := verify.Run(context.Background(), opening{s: ending{ds, memory}}, path, verify.Options{}); !errors.Is(err, memory) {
		t.Errorf("verify: %+v, %v", r, err)
	}
	f.touch("cat/001.jpg", time.Now())
	now := openFolder(t, f.root, folder.Config{})
	if _, found, err := edit.Add(context.Background(), target(t, path), ending{now, memory}, edit.AddOptions{}); !errors.Is(err, memory) {
		t.Errorf("add: found %+v, %v", found, err)
	}
	rot(t, largest(t, filepath.Dir(path)))
	d, err := edit.OpenDamaged(formatOf(t, path), path)
	f.must(err)
	defer d.Close()
	for _, cause := range []error{memory, pixel.ErrMemory, nil} {
		_, found, err := edit.Repair(context.Background(), d, nil, true, ending{src, cause}, convert.Options{})
		if panicked := new(guard.PanicError); err == nil || cause != nil && !errors.Is(err, cause) || cause == nil && !errors.As(err, &panicked) {
			t.Errorf("repair, %v: found %+v, %v", cause, found, err)
		}
	}
	_, found, err := edit.Repair(context.Background(), &edit.Target{Path: path, Format: d.Format, Dataset: ending{d.Dataset, memory}}, nil, true, src, convert.Options{})
	if !errors.Is(err, memory) {
		t.Errorf("repair of what cannot be read: found %+v, %v", found, err)
	}
}
