package cifar_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/cifar"
)

// folder writes files into a new folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// batch is a pickle of Python 2 with that array, shape and label, as CIFAR's are.
func batch(data, shape, label string) string {
	return "(dp1\nS'data'\np2\ncnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(" + shape +
		"tcnumpy\ndtype\n(S'u1'\nI0\nI1\ntR(I3\nS'|'\nNNNI-1\nI-1\nI0\ntbI00\nS'" + data + "'\ntbs" +
		"S'labels'\n(l" + label + "asS'filenames'\n(lS'a.png'\nas."
}

const (
	names   = "(dp1\nS'label_names'\n(lS'cat'\naS'dog'\nas."
	command = "cos\nsystem\n(S'true'\ntR."
)

var (
	image = strings.Repeat("x", 3072)
	good  = batch(image, "I1\nI3072\n", "I1\n")
)

func TestHostileFolders(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		why   string
	}{
		"truncated records":  {map[string]string{"batches.meta.txt": "cat\n", "test_batch.bin": image}, "truncated"},
		"label without name": {map[string]string{"batches.meta.txt": "cat\n", "test_batch.bin": "\x01" + image}, "label 1"},
		"no names":           {map[string]string{"batches.meta.txt": "", "test_batch.bin": "\x01" + image}, "class names"},
		"many names":         {map[string]string{"batches.meta.txt": strings.Repeat("a\n", 300), "test_batch.bin": "\x01" + image}, "class names"},
		"some batches":       {map[string]string{"batches.meta.txt": "cat\n", "data_batch_1.bin": "\x00" + image}, "data_batch_2.bin"},
		"a command":          {map[string]string{"batches.meta": names, "test_batch": command}, "os.system"},
		"a command as names": {map[string]string{"batches.meta": command, "test_batch": good}, "os.system"},
		"shape beyond":       {map[string]string{"batches.meta": names, "test_batch": batch(image, "I9\nI3072\n", "I1\n")}, "3072 bytes"},
		"other images":       {map[string]string{"batches.meta": names, "test_batch": batch(image, "I3\nI1024\n", "I1\n")}, "shape (N, 3072)"},
		"negative label":     {map[string]string{"batches.meta": names, "test_batch": batch(image, "I1\nI3072\n", "I-1\n")}, "between 0 and 255"},
		"label of names":     {map[string]string{"batches.meta": names, "test_batch": batch(image, "I1\nI3072\n", "I2\n")}, "label 2"},
		"more labels":        {map[string]string{"batches.meta": names, "test_batch": batch(image, "I1\nI3072\n", "I1\naI1\n")}, "1 images and 2 labels"},
		"no dict":            {map[string]string{"batches.meta": names, "test_batch": "N."}, "not a dict"},
		"truncated pickle":   {map[string]string{"batches.meta": names, "test_batch": good[:100]}, "truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, c.files)
			ds, err := cifar.Format{}.Open(dir)
			if err == nil {
				_ = ds.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v, want one with %q", err, c.why)
			}
		})
	}
}

// TestOneVersion: a folder with two versions below it is not a dataset, so that nothing is chosen silently.
func TestOneVersion(t *testing.T) {
	root := t.TempDir()
	for _, v := range []struct {
		folder string
		files  map[string]string
		want   bool
	}{
		{"cifar-10-batches-bin", map[string]string{"batches.meta.txt": "a\n", "test_batch.bin": "\x00" + image}, true},
		{"cifar-10-batches-py", map[string]string{"batches.meta": names, "test_batch": good}, false},
	} {
		if err := os.Rename(folder(t, v.files), filepath.Join(root, v.folder)); err != nil {
			t.Fatal(err)
		}
		if got := (cifar.Format{}).Match(root); got != v.want {
			t.Errorf("with %s: matches %v, want %v", v.folder, got, v.want)
		}
	}
}

func FuzzBatch(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(batch(image, "I1\nI3072\n", "I300\n")))
	f.Fuzz(func(t *testing.T, b []byte) {
		ds, err := cifar.Format{}.Open(folder(t, map[string]string{"batches.meta": names, "test_batch": string(b)}))
		if err != nil {
			return
		}
		defer ds.Close()
		var s formats.Sample
		for i := range ds.Len() {
			if err := ds.Read(i, &s); err != nil {
				t.Fatal(err)
			}
		}
	})
}
