package parquet_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/parquet"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// writeByDatasets writes datasets with Hugging Face's library, and saves what it reads from them.
const writeByDatasets = `
import base64, json, os, sys
import numpy as np
from PIL import Image as PIL
from datasets import ClassLabel, Dataset, DatasetDict, Features, Image, Sequence, Value, disable_progress_bars, load_dataset
os.chdir(sys.argv[1])
disable_progress_bars()
rng = np.random.default_rng(0)
features = Features({"image": Image(), "label": ClassLabel(names=["owl", "ant", "bee"]), "mask": Image(), "caption": Value("string"),
    "score": Value("float64"), "boxes": Sequence(Sequence(Value("float32"), length=4)), "place": Value("large_string")})

def picture(size):
    return PIL.fromarray(rng.integers(0, 256, size, dtype=np.uint8))

def rows(n):
    return {"image": [picture((6 + i % 3, 8, 3)) for i in range(n)], "label": [(i * 7) % 3 for i in range(n)], "mask": [picture((6 + i % 3, 8)) for i in range(n)],
            "caption": ["wörd %d" % i for i in range(n)], "score": [i / 8 for i in range(n)], "boxes": [[[0, 0, 1, i]] * (i % 3) for i in range(n)],
            "place": ["p%d" % (i % 4) for i in range(n)]}

want = {}
def read(path, splits):
    want[path] = {}
    for split, files in splits.items():
        data = load_dataset("parquet", data_files=files, split="train", cache_dir="cache")
        names = data.features["label"].names
        plain = data.cast_column("image", Image(decode=False)).cast_column("mask", Image(decode=False))
        want[path][split] = [{
            "image": base64.b64encode(r["image"]["bytes"] or open(r["image"]["path"], "rb").read()).decode(),
            "mask": base64.b64encode(r["mask"]["bytes"]).decode(), "class": names[r["label"]], "caption": r["caption"], "columns": [r["place"], r["score"]],
        } for r in plain]

# As push_to_hub lays them out: data/SPLIT-00000-of-0000N.parquet
hub = DatasetDict({"train": Dataset.from_dict(rows(50), features=features), "test": Dataset.from_dict(rows(9), features=features)})
os.makedirs("hub/data")
files = {}
for split, data in hub.items():
    shards = 3 if split == "train" else 1
    for k in range(shards):
        files.setdefault(split, []).append("hub/data/%s-%05d-of-%05d.parquet" % (split, k, shards))
        data.shard(num_shards=shards, index=k, contiguous=True).to_parquet(files[split][-1])
read("hub", files)
# One file, with small batches, which are row groups.
hub["train"].to_parquet("one.parquet", batch_size=7)
read("one.parquet", {"": ["one.parquet"]})
# A file for each split.
os.makedirs("split")
for split, data in hub.items():
    data.to_parquet("split/%s.parquet" % split)
read("split", {split: ["split/%s.parquet" % split] for split in hub})
# Paths instead of bytes: the library reads them from the working directory.
os.makedirs("paths/images")
here = os.getcwd()
os.chdir("paths")
for i in range(5):
    picture((5, 4, 3)).save("images/%d.png" % i)
few = {k: v[:5] for k, v in rows(5).items()}
Dataset.from_dict({**few, "image": ["images/%d.png" % i for i in range(5)]}, features=features).to_parquet("files.parquet")
read("files.parquet", {"": ["files.parquet"]})
want["paths/files.parquet"] = want.pop("files.parquet")
os.chdir(here)
json.dump(want, open("want.json", "w"))
`

// byDatasets is a row as the library read it.
type byDatasets struct {
	Image, Mask    []byte
	Class, Caption string
	Columns        []any
}

// TestByDatasets: what Hugging Face's library writes has the rows that it reads.
func TestByDatasets(t *testing.T) {
	dir := t.TempDir()
	formatcheck.ForeignPython(t, writeByDatasets, dir)
	var want map[string]map[string][]byDatasets
	formatcheck.ReadJSON(t, filepath.Join(dir, "want.json"), &want)
	for path, splits := range want {
		ds, err := formatcheck.OpenForeign(t, parquet.Format{}, filepath.Join(dir, path), "")
		if err != nil {
			t.Fatal(err)
		}
		m := ds.Meta()
		if got := formatcheck.SchemaText(m.Schema); got != "image:image label:label mask:mask caption:text" || !slices.Equal(m.Classes(), []string{"owl", "ant", "bee"}) {
			t.Errorf("%s: the fields are %s, the classes %v", path, got, m.Classes())
		}
		next, n := map[string]int{}, 0
		for i := range ds.Len() {
			var s formats.Sample
			if err := ds.Read(i, &s); err != nil {
				t.Fatal(err)
			}
			w := splits[s.Split][next[s.Split]]
			next[s.Split]++
			label, _ := s.Values[1].Int64()
			if !bytes.Equal(s.Values[0].Data, w.Image) || !bytes.Equal(s.Values[2].Data, w.Mask) || m.Classes()[label] != w.Class || string(s.Values[3].Data) != w.Caption {
				t.Errorf("%s: %s differs", path, s.Key)
			}
			if at := slices.Index(m.Columns, "place"); at < 0 || s.Columns[at] != w.Columns[0] {
				t.Errorf("%s: %s has the columns %v of %v", path, s.Key, s.Columns, m.Columns)
			}
		}
		for _, rows := range splits {
			n += len(rows)
		}
		if n != ds.Len() || n == 0 || strings.Contains(path, "hub") && len(next) != 2 {
			t.Errorf("%s: %d samples of %v, want %d", path, ds.Len(), next, n)
		}
	}
}
