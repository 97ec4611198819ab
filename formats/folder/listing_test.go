package folder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// randomTree returns paths whose stems and names collide in every way.
func randomTree(r *rand.Rand, n int) []string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	paths := map[string]bool{}
	for range n {
		p := pick("a", "b", "a.b", "c/d") + "/" + fmt.Sprint(r.IntN(n/3)) + pick(".jpg", ".JPG", ".png", ".webp")
		for r.IntN(3) == 0 {
			p += pick(".jpg", ".JPG", ".png", ".txt.png")
		}
		paths[p] = true
	}
	list := []string{}
	for p := range paths {
		list = append(list, p)
	}
	return list
}

// However little memory listing may take, the samples are those of a table of all paths.
func TestKeysInAnyMemory(t *testing.T) {
	for seed := range uint64(4) {
		paths := randomTree(rand.New(rand.NewPCG(seed, 0)), 800)
		root := foldertest.Tree(t, paths...)
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		var first []string
		for _, memory := range []int64{0, 1, 100_000} {
			d := open(t, root, Config{Memory: memory})
			preview := NewPreview(paths)
			for _, it := range samplesOf(t, d) {
				if want, _, _, _ := preview.Sample(it.Path); it.key != want {
					t.Errorf("%q has the key %q, want %q", it.Path, it.key, want)
				}
			}
			got := foldertest.Rows(t, d)
			if len(got) != len(paths) || first != nil && !reflect.DeepEqual(got, first) {
				t.Fatalf("memory %d: %d samples, others than in %d", memory, len(got), len(first))
			}
			first = got
			var s formats.Sample
			foldertest.Must(t, d.Read(len(got)-1, &s))
			if want := foldertest.JPEGHead + s.Source.Path; string(s.Values[0].Data) != want {
				t.Errorf("%q, want %q", s.Values[0].Data, want)
			}
			foldertest.Must(t, d.Close())
			if _, err := d.Info(0); !errors.Is(err, formats.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// A table's keys, splits and columns come from the table again each time.
func TestTableInLittleMemory(t *testing.T) {
	root := foldertest.Tree(t, "1.jpg", "x/2.jpg", "3.jpg")
	foldertest.Must(t, os.WriteFile(filepath.Join(root, "l.csv"), []byte("path,label,age,k,s\n1.jpg,b,7,z,val\nx/2.jpg,a,8,y,train\n3.jpg,b,9,x/other,val\n"), 0o644))
	foldertest.Must(t, os.WriteFile(filepath.Join(root, "l.json"), []byte(`{"dsconv_labels": 1, "table": "l.csv", "key": "k", "split": "s",
		"fields": [{"name": "image", "kind": "image"}, {"name": "label", "kind": "label", "dtype": "int64", "classes": ["b", "a"], "column": "label"}],
		"columns": [{"name": "age", "column": "age"}]}`), 0o644))
	for _, labels := range []string{"l.csv", "l.json"} {
		var infos [2][]formats.Info
		for k, memory := range []int64{0, 1} {
			d := open(t, root, Config{Labels: filepath.Join(root, labels), Memory: memory})
			for i := range d.Len() {
				in, err := d.Info(i)
				foldertest.Must(t, err)
				infos[k] = append(infos[k], in)
			}
		}
		if len(infos[0]) != 3 || !reflect.DeepEqual(infos[0], infos[1]) {
			t.Errorf("%s: %v, %v", labels, infos[0], infos[1])
		}
		if in := infos[0][0]; labels == "l.json" && (in.Key != "x/other" || in.Split != "val" || in.Label != 0 || in.Source.Path != "3.jpg") {
			t.Errorf("%+v", in)
		}
	}
}

func TestListingWithoutATemporaryFolder(t *testing.T) {
	root := foldertest.Tree(t, randomTree(rand.New(rand.NewPCG(1, 1)), 200)...)
	t.Setenv("TMPDIR", filepath.Join(root, "gone"))
	foldertest.Must(t, open(t, root, Config{}).Close())
	_, err := Open(context.Background(), root, Config{Memory: 1})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%v", err)
	}
	if _, err := Open(context.Background(), root, Config{Memory: -1}); err == nil || !strings.Contains(err.Error(), "Config.Memory is -1") {
		t.Errorf("%v", err)
	}
}

// More entries than are in memory at once, and more folders than are listed at once.
func TestManyEntries(t *testing.T) {
	var paths []string
	for i := range 2*vfs.MaxEntries + 1 {
		paths = append(paths, fmt.Sprintf("a/%d.jpg", i))
	}
	for i := range 5 * vfs.MaxOpen {
		paths = append(paths, fmt.Sprintf("b/%d/%d/1.jpg", i, i))
	}
	d := open(t, foldertest.Tree(t, paths...), Config{})
	if d.Len() != len(paths) || len(d.Skips()) > 0 {
		t.Errorf("%d samples, want %d; %v", d.Len(), len(paths), d.Skips())
	}
}

func TestCancelledListing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, foldertest.Tree(t, "a/1.jpg"), Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
