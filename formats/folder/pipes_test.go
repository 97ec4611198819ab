package folder

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A pipe with the name of a file that describes a folder is an error, or no such file; nothing waits for its writer.
func TestPipesInAFolder(t *testing.T) {
	for _, name := range []string{
		"labels.json", "labels.csv", "metadata.csv", "metadata.jsonl", "annotations.json", "_annotations.coco.json", "classes.txt", "data.yaml",
		"a/metadata.jsonl", "a/1.txt", "a/1.json", "a/1.xml", "dataset_dict.json", "LOC_synset_mapping.txt", "ILSVRC2012_devkit_t12/data/meta.mat",
	} {
		dir := t.TempDir()
		for _, file := range []string{"a/1.png", "b/2.png"} {
			must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, file), []byte("\x89PNG\r\n\x1a\n"), 0o644))
		}
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		must(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
		if ds, err := Open(t.Context(), dir, Config{}); err == nil {
			must(t, ds.Close())
		}
	}
}
