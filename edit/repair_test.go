package edit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/formattest"
)

// Damage in what stays is not written anew under a fresh checksum.
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
			t.Errorf("damaged samples were written anew: %v", err)
		}
		f.must(d.Close())
	})
}

// largest is the data file with most bytes.
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

// rot flips bits in the images that a file holds.
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

// Repair gives back the bytes that were there, from the folder and from another dataset.
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
	d, err := edit.Salvage(formatOf(t, path), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	var damage []formats.Damage
	if err := d.Dataset.(formats.Checker).Check(context.Background(), formats.Part{}, 2, func(x formats.Damage) { damage = append(damage, x) }); err != nil {
		t.Fatal(err)
	}
	p, found, err := edit.Repair(context.Background(), d, damage, false, src, convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p, found, d
}
