package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// TestMetadataFiles: tables that Hugging Face's imagefolder would read are mentioned, unless they are given.
func TestMetadataFiles(t *testing.T) {
	root := foldertest.Tree(t, "train/a.jpg", "test/b.jpg")
	table := filepath.Join(root, "train", "metadata.csv")
	for file, content := range map[string]string{
		table: "file_name,label\na.jpg,cat\n", filepath.Join(root, "test", "metadata.jsonl"): `{"file_name": "b.jpg", "text": "a bee"}`,
		filepath.Join(root, "metadata.csv"): "about,licence\n",
	} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	notices := func(cfg Config) string {
		d, err := Open(t.Context(), root, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		return strings.Join(d.LabelNotices(), "\n")
	}
	want := "train/metadata.csv lists file_name, label, and is not read: give --labels train=" + table +
		"\ntest/metadata.jsonl lists file_name, text, and is not read: give --labels test=" + filepath.Join(root, "test", "metadata.jsonl") + "\n" + noLabels
	if got := notices(Config{}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := notices(Config{FolderLabels: map[string]string{"train": table}}); strings.Contains(got, "is not read") {
		t.Errorf("with a table: %s", got)
	}
}
