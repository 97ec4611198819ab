package folder

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

func open(t *testing.T, root string, cfg Config) *Dataset {
	t.Helper()
	d, err := Open(context.Background(), root, cfg)
	foldertest.Must(t, err)
	return d
}

func samplesOf(t *testing.T, d *Dataset) (list []*sample) {
	t.Helper()
	for i := range d.Len() {
		it, err := d.sample(i)
		foldertest.Must(t, err)
		list = append(list, it)
	}
	return list
}

func skipped(d *Dataset) map[string]string {
	m := map[string]string{}
	for _, s := range d.Skips() {
		m[s.Path] = s.Cause
	}
	return m
}

func TestLayouts(t *testing.T) {
	for name, c := range map[string]struct {
		files   []string
		want    []string
		classes []string
	}{
		"classes": {
			[]string{"b/2.jpg", "b/deep/er/1.PNG", "a/1.jpeg", "empty/", "notes.txt"},
			[]string{"a/1  a", "b/2  b", "b/deep/er/1  b"},
			[]string{"a", "b"},
		},
		"an empty folder is no split": {[]string{"train/x/1.jpg", "val/x/1.jpg", "logs/", "test/"}, []string{"train/x/1 train x", "val/x/1 val x"}, []string{"x"}},
		"empty in one split":          {[]string{"train/x/1.jpg", "train/y/1.jpg", "val/x/", "val/y/2.jpg", "val/z/"}, []string{"train/x/1 train x", "train/y/1 train y", "val/y/2 val y"}, []string{"x", "y"}},
		"no images in a class":        {[]string{"a/1.jpg", "b/deep/notes.txt"}, []string{"a/1  a"}, []string{"a"}},
		"system folders without images": {
			[]string{"train/x/1.jpg", ".git/objects/ab/cd", "train/.ipynb_checkpoints/", "__MACOSX/train/x/notes.txt", "$RECYCLE.BIN/", "lost+found/"},
			[]string{"train/x/1 train x"},
			[]string{"x"},
		},
		"splits": {
			[]string{"train/x/1.jpg", "val/y/1.jpg", "val/x/1.jpg"},
			[]string{"train/x/1 train x", "val/x/1 val x", "val/y/1 val y"},
			[]string{"x", "y"},
		},
		"a folder that is no split": {[]string{"train/1.jpg", "other/1.jpg"}, []string{"other/1  other", "train/1  train"}, []string{"other", "train"}},
		"flat":                      {[]string{"2.jpg", "1.jpg"}, []string{"1 ", "2 "}, nil},
		"splits without classes":    {[]string{"train/1.jpg", "test/1.jpg"}, []string{"test/1 test", "train/1 train"}, nil},
		"bytewise":                  {[]string{"a/1.jpg", "a-b/1.jpg", "a.b/1.jpg", "é/1.jpg", "Z/1.jpg"}, []string{"Z/1  Z", "a-b/1  a-b", "a.b/1  a.b", "a/1  a", "é/1  é"}, []string{"Z", "a", "a-b", "a.b", "é"}},
		"same stems": {
			[]string{"c/1.jpg", "c/1.png", "c/2.jpg"},
			[]string{"c/1.jpg  c", "c/1.png  c", "c/2  c"},
			[]string{"c"},
		},
		"a link to a class": {[]string{"a/1.jpg", "b -> a"}, []string{"a/1  a", "b/1  b"}, []string{"a", "b"}},
		"irregular names": {
			[]string{"a b/x\ny.jpg", "a b/v1.2.jpg", "a b/日本.jpg"},
			[]string{"a b/v1.2  a b", "a b/x\ny  a b", "a b/日本  a b"},
			[]string{"a b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, foldertest.Tree(t, c.files...), Config{})
			if got := foldertest.Rows(t, d); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := d.Meta().Classes(); !reflect.DeepEqual(got, c.classes) {
				t.Errorf("classes %q, want %q", got, c.classes)
			}
			if len(d.Skips()) != 0 {
				t.Errorf("skipped %v", d.Skips())
			}
		})
	}
}

func TestWhatIsSkippedIsNamed(t *testing.T) {
	long := strings.Repeat("d", 200) + "/" + strings.Repeat("e", 200) + "/" + strings.Repeat("f", 200)
	root := foldertest.Tree(t, "a/1.jpg", "a/2.heic", "stray.jpg", "a/loop -> ../a", "a/gone.jpg -> nowhere", "a/"+long+".jpg", "a/.hidden", "a/1.jpg.png", "a/\xff.jpg", "a/1.png")
	d := open(t, root, Config{})
	want := map[string]string{
		"a/2.heic": "heic", "stray.jpg": "not in a class folder", "a/loop": "loop", "a/gone.jpg": "no such file",
		"a/" + long + ".jpg": "604 bytes", "a/\xff.jpg": "UTF-8",
	}
	got := skipped(d)
	for path, cause := range want {
		if !strings.Contains(got[path], cause) {
			t.Errorf("%q: %q, want %q", path, got[path], cause)
		}
	}
	if len(got) != len(want) {
		t.Errorf("skipped %v", got)
	}
	if d.Ignored() != 1 {
		t.Errorf("%d files ignored", d.Ignored())
	}
	if got, want := foldertest.Rows(t, d), []string{"a/1.jpg  a", "a/1.jpg.png  a", "a/1.png  a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestLabelTables(t *testing.T) {
	files := []string{"x/1.jpg", "2.jpg", "3.jpg"}
	for name, c := range map[string]struct {
		file, table string
		cfg         Config
		labels      [][]int64
		schema      []string
		columns     []string
		wrong       string
	}{
		"csv":           {"l.csv", "\ufefffile_name,label,age\n2.jpg,dog,7\nx/1.jpg,cat,\"8,5\"\n3.jpg,dog,\n", Config{}, [][]int64{{1}, {1}, {0}}, []string{"cat", "dog"}, []string{"7", "", "8,5"}, ""},
		"tsv, natural":  {"l.tsv", "path\tlabel\n2.jpg\tc10\nx/1.jpg\tc9\n./3.jpg\tc9\n", Config{ClassOrder: "natural"}, [][]int64{{1}, {0}, {0}}, []string{"c9", "c10"}, nil, ""},
		"numbers":       {"l.csv", "path,label\n2.jpg,10\nx/1.jpg,2\n3.jpg,0\n", Config{LabelType: "index"}, [][]int64{{10}, {0}, {2}}, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}, nil, ""},
		"several":       {"l.jsonl", "{\"path\":\"2.jpg\",\"a\":\"u\",\"b\":3}\n{\"path\":\"x/1.jpg\",\"b\":1,\"a\":\"v\"}\n{\"path\":\"3.jpg\",\"a\":null,\"b\":0}\n", Config{LabelColumns: []string{"a", "b"}, LabelType: "b=index"}, [][]int64{{0, 3}, {-1, 0}, {1, 1}}, []string{"u", "v"}, nil, ""},
		"multi":         {"l.csv", "path,label\n2.jpg,p;q\nx/1.jpg,\n3.jpg,q\n", Config{LabelSep: ";"}, [][]int64{{0, 1}, {1}, nil}, []string{"p", "q"}, nil, ""},
		"no path":       {"l.csv", "name,label\n", Config{}, nil, nil, nil, `no column "path" or "file_name" among name, label`},
		"no such label": {"l.csv", "path,kind\na.jpg,x\n", Config{LabelColumns: []string{"label"}}, nil, nil, nil, `no column "label" among kind`},
		"ragged":        {"l.csv", "path,label\n2.jpg\n", Config{}, nil, nil, nil, "line 2"},
		"twice":         {"l.csv", "path,label\n2.jpg,a\n2.jpg,b\n", Config{}, nil, nil, nil, "twice"},
		"latin-1":       {"l.csv", "path,label\n2.jpg,caf\xe9\n", Config{}, nil, nil, nil, "not UTF-8"},
		"empty":         {"l.csv", "", Config{}, nil, nil, nil, "empty"},
		"other type":    {"l.xlsx", "", Config{}, nil, nil, nil, ".csv, .tsv, .jsonl, .json, .txt or .parquet"},
		"bad json":      {"l.jsonl", "{\n", Config{}, nil, nil, nil, "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			root := foldertest.Tree(t, files...)
			c.cfg.Labels = filepath.Join(t.TempDir(), c.file)
			foldertest.Must(t, os.WriteFile(c.cfg.Labels, []byte(c.table), 0o644))
			d, err := Open(context.Background(), root, c.cfg)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), c.cfg.Labels) {
					t.Fatalf("got %v", err)
				}
				return
			}
			foldertest.Must(t, err)
			var labels [][]int64
			var columns []string
			for _, it := range samplesOf(t, d) {
				labels = append(labels, it.labels)
				columns = append(columns, it.columns...)
			}
			if !reflect.DeepEqual(labels, c.labels) || !slices.Equal(d.Meta().Classes(), c.schema) || !slices.Equal(columns, c.columns) {
				t.Errorf("labels %v classes %q columns %q", labels, d.Meta().Classes(), columns)
			}
		})
	}
	root := foldertest.Tree(t, files...)
	table := filepath.Join(t.TempDir(), "l.csv")
	foldertest.Must(t, os.WriteFile(table, []byte("path,label\n2.jpg,a\ngone.jpg,b\n"), 0o644))
	got := skipped(open(t, root, Config{Labels: table}))
	if !strings.Contains(got["gone.jpg"], "does not exist") || !strings.Contains(got["3.jpg"], "not listed") || len(got) != 3 {
		t.Errorf("skipped %v", got)
	}
}

func TestReadGivesTheFilesBytes(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "b/22.jpg")
	d := open(t, root, Config{})
	var s formats.Sample
	foldertest.Must(t, d.Read(0, &s))
	if string(s.Values[0].Data) != foldertest.JPEGHead+"a/1.jpg" || s.Values[0].Encoding != formats.JPEG || s.Key != "a/1" {
		t.Errorf("%+v", s)
	}
	if x, ok := s.Values[1].Int64(); !ok || x != 0 {
		t.Errorf("label %d", x)
	}
	foldertest.Must(t, os.Remove(filepath.Join(root, "a/1.jpg")))
	if err := d.Read(0, &s); err == nil || !strings.Contains(err.Error(), "a/1.jpg") {
		t.Errorf("a file that is gone: %v", err)
	}
}

// A file that is not the one that was listed is an error, whatever its bytes are.
func TestReadNoticesChanges(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg")
	file := filepath.Join(root, "a/1.jpg")
	var s formats.Sample
	for what, change := range map[string]func(){
		"it grew":      func() { foldertest.Must(t, os.WriteFile(file, []byte(strings.Repeat("grown", 5000)), 0o644)) },
		"it shrank":    func() { foldertest.Must(t, os.WriteFile(file, nil, 0o644)) },
		"another time": func() { foldertest.Must(t, os.Chtimes(file, time.Time{}, time.Unix(1, 0))) },
	} {
		d := open(t, root, Config{})
		foldertest.Must(t, d.Read(0, &s))
		change()
		if err := d.Read(0, &s); err == nil || !strings.Contains(err.Error(), "it changed since it was listed") || !strings.Contains(err.Error(), "a/1.jpg") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestFoldersThatCannotBeRead(t *testing.T) {
	for name, root := range map[string]string{
		"no image": foldertest.Tree(t, "a/", "readme.txt"), "is not a folder": filepath.Join(foldertest.Tree(t, "f.jpg"), "f.jpg"),
		"there is nothing": filepath.Join(t.TempDir(), "gone"), "object stores": "s3://bucket/x",
	} {
		if _, err := Open(context.Background(), root, Config{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The class table is what torchvision's own code gives for the same folder.
func TestClassesAreTorchvisions(t *testing.T) {
	python := os.Getenv("DSCONV_PYTHON")
	if python == "" {
		t.Skip("DSCONV_PYTHON is not set")
	}
	root := foldertest.Tree(t, "100/1.jpg", "2/1.jpg", "Zebra/1.jpg", "apple/1.jpg", "apple-pie/1.jpg", "apple pie/1.jpg", "éclair/1.jpg", "日本/1.jpg", "𝔘/1.jpg", "\uffff/1.jpg", "_x/1.jpg", "link -> 2", "file.txt")
	// torchvision's module is loaded by itself: the package needs torch, the list does not.
	const script = `
import importlib.util, json, pathlib, sys, types
found = importlib.util.find_spec("torchvision")
if not found:
    sys.exit(3)
package = types.ModuleType("tv"); package.__path__ = []
vision = types.ModuleType("tv.vision"); vision.VisionDataset = object
sys.modules.update({"tv": package, "tv.vision": vision})
path = pathlib.Path(found.submodule_search_locations[0]) / "datasets" / "folder.py"
spec = importlib.util.spec_from_file_location("tv.folder", path)
folder = importlib.util.module_from_spec(spec); spec.loader.exec_module(folder)
json.dump(folder.find_classes(sys.argv[1])[1], sys.stdout)
`
	cmd := exec.Command(python, "-c", script, root)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() == 3 {
		t.Skip("torchvision is not installed in DSCONV_PYTHON")
	}
	foldertest.Must(t, err)
	var want map[string]int
	foldertest.Must(t, json.Unmarshal(out, &want))
	got := map[string]int{}
	for i, name := range open(t, root, Config{}).Meta().Classes() {
		got[name] = i
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, torchvision has %v", got, want)
	}
}
