package edit

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// The checksum of a sample's labels changes with each label, in any field, from the source or from an
// edit. The checksum of a single class index is that index.
func TestLabelSums(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "1.jpg"), []byte("\xff\xd8\xff\xe0"), 0o644); err != nil {
		t.Fatal(err)
	}
	sum := func(columns []string, types, row string, c *change) int64 {
		table := filepath.Join(t.TempDir(), "l.csv")
		if err := os.WriteFile(table, []byte("path,kind,age\n1.jpg,"+row+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := folder.Open(context.Background(), root, folder.Config{Labels: table, LabelColumns: columns, LabelType: types})
		if err != nil {
			t.Fatal(err)
		}
		u := &union{meta: *d.Meta(), samples: []unionSample{{change: c}}}
		u.sources = []unionSource{newUnionSource(d, false, &u.meta)}
		in, err := u.Info(0)
		if err != nil {
			t.Fatal(err)
		}
		return u.LabelSum(0, &in)
	}
	number := func(x float32) *change {
		var v formats.Value
		v.SetFloat32(x)
		return &change{labels: map[int]formats.Value{2: v}}
	}
	two, types := []string{"kind", "age"}, "age=float,kind=index"
	seen := map[int64]bool{}
	for _, s := range []int64{
		sum(two, types, "0,1", nil), sum(two, types, "1,1", nil), sum(two, types, "0,2", nil), sum(two, types, "0,1", number(2)), sum(two, types, "0,1", number(3)),
	} {
		if seen[s] {
			t.Errorf("%d stands for two lists of labels", s)
		}
		seen[s] = true
	}
	if got := sum([]string{"kind"}, "index", "3,", nil); got != 3 {
		t.Errorf("class 3 is listed as %d", got)
	}
}
