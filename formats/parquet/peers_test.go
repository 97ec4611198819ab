package parquet_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/parquet"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// writeHub writes datasets by pyarrow as datasets writes them: the same columns,
// metadata and names of files. It saves what pyarrow reads from them.
const writeHub = `
import base64, json, os, random, sys
import pyarrow as pa, pyarrow.parquet as pq
os.chdir(sys.argv[1])
rng = random.Random(0)
image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
features = {
    "image": {"_type": "Image"}, "label": {"names": ["cat", "dog", "emu"], "_type": "ClassLabel"}, "coarse": {"names": ["a", "b"], "_type": "ClassLabel"},
    "caption": {"dtype": "string", "_type": "Value"}, "place": {"dtype": "string", "_type": "Value"}, "mask": {"_type": "Image"},
    "boxes": [[{"dtype": "float32", "_type": "Value"}]], "sound": {"_type": "Audio"},
}
schema = pa.schema([("image", image), ("label", pa.int64()), ("coarse", pa.int32()), ("caption", pa.string()), ("place", pa.string()), ("mask", image),
    ("boxes", pa.list_(pa.list_(pa.float32()))), ("sound", image), ("score", pa.float64()), ("good", pa.bool_())],
    metadata={"huggingface": json.dumps({"info": {"features": features}})})

def png(n):
    return b"\x89PNG\r\n\x1a\n" + rng.randbytes(n)

def row(i):
    return {
        "image": {"bytes": png(rng.randrange(3000)), "path": f"{i}.png"}, "label": rng.choice([0, 1, 2, 2, 2, -1]), "coarse": i % 2, "caption": "é" * (i % 5),
        "place": rng.choice(["here", "there", None]), "mask": {"bytes": png(20 + i % 3), "path": None}, "boxes": [[1.0, 2.0]] * (i % 3),
        "sound": {"bytes": b"RIFF", "path": "a.wav"}, "score": rng.choice([None, 0.5, i / 4]), "good": rng.choice([True, False, None]),
    }

want = {}
def write(folder, name, rows, **options):
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{name}"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, **options)
    listed = pq.read_table(path).to_pylist()
    for r in listed:
        for k in "image", "mask":
            r[k]["bytes"] = base64.b64encode(r[k]["bytes"]).decode() if r[k]["bytes"] is not None else None
        r["sound"] = None
    want.setdefault(folder.split("/")[0], []).append({"file": name, "rows": listed})

n = iter(range(10**6))
rows = lambda k: [row(next(n)) for _ in range(k)]
write("hub/data", "train-00000-of-00002.parquet", rows(230), row_group_size=100)
write("hub/data", "train-00001-of-00002.parquet", rows(70), row_group_size=100)
write("hub/data", "test-00000-of-00001.parquet", rows(40))
write("flat", "train.parquet", rows(50), compression="zstd", data_page_version="2.0", data_page_size=2000, row_group_size=33)
write("flat", "validation.parquet", rows(50), compression="gzip", use_dictionary=False, data_page_size=1000, write_batch_size=7)
write("plain", "0000.parquet", rows(300), compression="none", data_page_size=5000, write_batch_size=3, write_page_index=True)
write("v2none", "0000.parquet", rows(60), compression="none", data_page_version="2.0", dictionary_pagesize_limit=1500, write_batch_size=5)
outside = rows(3)
os.makedirs("files/below")
for i, r in enumerate(outside):
    open(f"files/below/{i}.png", "wb").write(r["image"]["bytes"])
    r["image"] = {"bytes": None, "path": f"below/{i}.png"}
outside[2]["image"]["path"] = "../hub/data/train-00000-of-00002.parquet"
write("files", "images.parquet", outside)
json.dump(want, open("want.json", "w"))
`

type imageStruct struct {
	Bytes []byte
	Path  *string
}

type wantRow struct {
	Image, Mask    imageStruct
	Label, Coarse  int64
	Caption, Place *string
	Score          *float64
	Good           *bool
}

type wantFile struct {
	File string
	Rows []wantRow
}

func hub(t *testing.T) (dir string, want map[string][]wantFile) {
	t.Helper()
	dir = t.TempDir()
	formatcheck.Python(t, writeHub, dir)
	formatcheck.ReadJSON(t, filepath.Join(dir, "want.json"), &want)
	return dir, want
}

// TestParquetOfPyarrow: rows that pyarrow wrote, with each codec, version of pages and size of pages that it has.
func TestParquetOfPyarrow(t *testing.T) {
	dir, want := hub(t)
	for folder, files := range want {
		t.Run(folder, func(t *testing.T) {
			path := filepath.Join(dir, folder)
			if !(parquet.Format{}).Match(path) {
				t.Fatal("it does not match")
			}
			ds, err := parquet.Format{}.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer ds.Close()
			if got := strings.Join(ds.Meta().Schema.Names(), " "); got != "image label mask coarse caption" {
				t.Fatalf("fields %s", got)
			}
			n := 0
			for _, f := range files {
				n += len(f.Rows)
			}
			if n != ds.Len() {
				t.Fatalf("%d samples, want %d", ds.Len(), n)
			}
			sameFiles(t, ds, path, files)
		})
	}
}

// sameFiles compares the samples with the rows, found by their keys.
func sameFiles(t *testing.T, ds formats.Dataset, path string, files []wantFile) {
	next := map[string]int{}
	for _, f := range files {
		split := map[string]string{"tra": "train", "tes": "test", "val": "validation"}[f.File[:3]]
		for _, r := range f.Rows {
			var s formats.Sample
			first, err := formats.Find(ds, split+map[bool]string{true: "", false: "/"}[split == ""]+"00000")
			if err != nil {
				t.Fatal(err)
			}
			i := first + next[split]
			next[split]++
			if r.Image.Bytes == nil {
				if r.Image.Bytes, _ = os.ReadFile(filepath.Join(path, *r.Image.Path)); strings.HasPrefix(*r.Image.Path, "..") {
					if err := ds.Read(i, &s); err == nil || !strings.Contains(err.Error(), "escapes") {
						t.Errorf("an image outside of the folder: %v", err)
					}
					continue
				}
			}
			if err := ds.Read(i, &s); err != nil {
				t.Fatal(err)
			}
			sameRow(t, ds, i, &s, &r)
		}
	}
}

func sameRow(t *testing.T, ds formats.Dataset, i int, s *formats.Sample, r *wantRow) {
	t.Helper()
	label, _ := s.Values[1].Int64()
	coarse, _ := s.Values[3].Int64()
	if !bytes.Equal(s.Values[0].Data, r.Image.Bytes) || s.Values[0].Encoding != formats.PNG || !bytes.Equal(s.Values[2].Data, r.Mask.Bytes) ||
		label != r.Label || coarse != r.Coarse || string(s.Values[4].Data) != *r.Caption {
		t.Fatalf("%s differs: label %d, want %d", s.Key, label, r.Label)
	}
	text := func(v any) string {
		b, _ := json.Marshal(v)
		return strings.Trim(strings.TrimSuffix(string(b), ".0"), `"`)
	}
	wantColumns := []string{text(r.Place), text(r.Score), text(r.Good), text(r.Image.Path)}
	if got := strings.Join(s.Columns, ","); got != strings.ReplaceAll(strings.Join(wantColumns, ","), "null", "") {
		t.Fatalf("%s has the columns %v (%v), want %v", s.Key, s.Columns, ds.Meta().Columns, wantColumns)
	}
	in, err := ds.Info(i)
	if err != nil || in.Key != s.Key || in.Label != label || in.Split != s.Split || strings.Join(in.Columns, ",") != strings.Join(s.Columns, ",") || formats.CheckKey(s.Key) != nil {
		t.Fatalf("Info of %s is %+v, error %v", s.Key, in, err)
	}
}

// TestMaps: which columns are the fields is the user's to say.
func TestMaps(t *testing.T) {
	dir, _ := hub(t)
	for name, c := range map[string]struct {
		m    map[string]string
		want string
	}{
		"another image":  {map[string]string{"image": "mask", "label": "coarse"}, "image label"},
		"a number":       {map[string]string{"label": "score", "where": "place"}, "image label where"},
		"bytes":          {map[string]string{"image": "image.bytes", "label": "label"}, "image label"},
		"no such column": {map[string]string{"image": "picture"}, `!no column "picture"`},
		"not an image":   {map[string]string{"image": "score"}, "!cannot be the field image"},
		"a text":         {map[string]string{"label": "place"}, "image label"},
		"not a label":    {map[string]string{"label": "mask"}, "!cannot be the field label"},
	} {
		ds, err := parquet.Format{}.OpenWith(t.Context(), filepath.Join(dir, "flat"), formats.ReadOptions{Map: c.m})
		if err != nil {
			if why, ok := strings.CutPrefix(c.want, "!"); !ok || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var s formats.Sample
		if got := strings.Join(ds.Meta().Schema.Names(), " "); got != c.want || ds.Read(1, &s) != nil {
			t.Errorf("%s: fields %s", name, got)
		}
		_ = ds.Close()
	}
}
