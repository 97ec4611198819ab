package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// TestOtherPrograms: files and folders that are not read are named, with what to do.
func TestOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range map[string]string{
		"x.beton": "", "rec/train.rec": "", "rec/train.idx": "", "saved/state.json": `{"_data_files": []}`, "saved/data-00000-of-00001.arrow": "",
		"lit/index.json": `{"chunks": []}`, "mds/index.json": `{"shards": []}`, "mds/shard.00000.mds": "", "tfds/1.0.0/dataset_info.json": "{}",
		"tfds/1.0.0/x-train.tfrecord-00000-of-00001": "", "pt/all.pth": "", "hub/a/train/0.parquet": "", "hub/b/0.parquet": "", "wds/data/0.tar": "",
		"stl/train/0.tar": "", "stl/unlabeled/0.tar": "", "own/x.tar.dsconv/manifest.parquet": "", "other.bin": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"x.beton": "FFCV", "rec/train.rec": "MXNet", "rec": "it has train.idx: it is an index of MXNet's", "saved": `load_from_disk("saved").to_parquet`,
		"saved/data-00000-of-00001.arrow": `load_from_disk("saved").to_parquet`, "lit": "LitData", "mds/shard.00000.mds": "give mds, which must have the index.json",
		"mds/index.json": "give mds", "tfds/1.0.0/dataset_info.json": "give tfds/1.0.0", "tfds": "one of the folders tfds/1.0.0", "pt": "torch.save's; pack it from Python",
		"hub": "one of the folders hub/a, hub/b", "wds": "one of the folders wds/data", "stl": "one of the folders stl/train, stl/unlabeled",
		"other.bin": "its name and content are of no file that is read",
	} {
		open := func() (*Dataset, error) { return Open(t.Context(), path, Config{}) }
		if IsList(path) {
			open = func() (*Dataset, error) { return OpenList(t.Context(), path, Config{}) }
		}
		if _, err := open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		} else if strings.Contains(want, "give") && strings.Contains(path, ".") && !errors.Is(err, formats.ErrNotDataset) {
			t.Errorf("%s: %v is no ErrNotDataset", path, err)
		}
	}
	if _, err := Open(t.Context(), "own", Config{}); err == nil || strings.Contains(err.Error(), "one of the folders") {
		t.Errorf("what describes shards of dsconv's: %v", err)
	}
}
