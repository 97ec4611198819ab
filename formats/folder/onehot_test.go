package folder

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// Columns that are classes become one multi-hot label, in the order of the flag, and the other columns stay. What is
// added is read likewise.
func TestColumnsThatAreClasses(t *testing.T) {
	root := foldertest.Tree(t, "1.png", "2.png", "3.png")
	for name, content := range map[string]string{
		"numbers": "path,dog,note,cat\n1.png,1,a,1\n2.png,0,b,0\n3.png,0,c,1\n",
		"floats":  "path,dog,note,cat\n1.png,1.0,a,1.0\n2.png,0.0,b,\n3.png,0,c,1\n",
		"truths":  "path,dog,note,cat\n1.png,True,a,true\n2.png,False,b,0\n3.png,false,c,True\n",
	} {
		table := filepath.Join(t.TempDir(), "l.csv")
		foldertest.Must(t, os.WriteFile(table, []byte(content), 0o644))
		cfg := Config{Labels: table, LabelColumns: []string{"label=dog", "label=cat"}}
		d, err := Open(context.Background(), root, cfg)
		foldertest.Must(t, err)
		f := d.Meta().Schema[1]
		if f.Name != "label" || f.Kind != formats.MultiHot || !slices.Equal(f.Classes, []string{"dog", "cat"}) || !slices.Equal(d.Meta().Columns, []string{"note"}) {
			t.Fatalf("%s: %+v, columns %q", name, f, d.Meta().Columns)
		}
		var got []string
		for i := range d.Len() {
			var s formats.Sample
			foldertest.Must(t, d.Read(i, &s))
			got = append(got, string([]byte{'0' + s.Values[1].Data[0], '0' + s.Values[1].Data[1]})+s.Columns[0])
		}
		if strings.Join(got, " ") != "11a 00b 01c" || !strings.Contains(strings.Join(d.LabelNotices(), "\n"), "each of the columns dog, cat is a class") {
			t.Errorf("%s: %q, %q", name, got, d.LabelNotices())
		}
		cfg.Like = formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.MultiHot, Classes: []string{"dog", "cat", "cow"}}}
		again, err := Open(context.Background(), root, cfg)
		foldertest.Must(t, err)
		if f := again.Meta().Schema[1]; !slices.Equal(f.Classes, []string{"dog", "cat", "cow"}) {
			t.Errorf("%s: added: %q", name, f.Classes)
		}
	}
}
