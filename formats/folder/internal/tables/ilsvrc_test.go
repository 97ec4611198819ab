package tables_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// devkit makes ImageNet's development kit, made small, by scipy: the numbers of its classes are not in the order
// of their WordNet IDs. It returns the kit's folder.
func devkit(t *testing.T, truth string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ILSVRC2012_devkit_t12")
	foldertest.Must(t, os.MkdirAll(filepath.Join(dir, "data"), 0o755))
	foldertest.Must(t, os.WriteFile(filepath.Join(dir, "data", "meta.mat"), synsets(t), 0o644))
	foldertest.Must(t, os.WriteFile(filepath.Join(dir, "data", "ILSVRC2012_validation_ground_truth.txt"), []byte(truth), 0o644))
	return dir
}

var madeSynsets []byte

// synsets is the kit's meta.mat, which scipy writes once for all tests.
func synsets(t *testing.T) []byte {
	t.Helper()
	if madeSynsets != nil {
		return madeSynsets
	}
	file := filepath.Join(t.TempDir(), "meta.mat")
	out := formatcheck.Python(t, `
import sys, numpy as np
try:
    import scipy.io as sio
except ImportError:
    print("skip")
    sys.exit()
# MATLAB stores small whole numbers in one or two bytes.
rows = [(1.0, "n02119789", "kit fox, Vulpes macrotis", 0), (np.uint8(2), "n01440764", "tench", 0), (3.0, "n02100735", "English setter", 0), (np.uint16(1001), "n00001740", "entity", 2)]
a = np.zeros((4, 1), dtype=[(f, object) for f in ("ILSVRC2012_ID", "WNID", "words", "gloss", "num_children", "children")])
for i, (number, wnid, words, children) in enumerate(rows):
    a[i, 0] = (number, wnid, words, "", children, np.arange(children))
sio.savemat(sys.argv[1], {"synsets": a}, do_compression=True)
`, file)
	if strings.HasPrefix(out, "skip") {
		t.Skip("scipy is not installed")
	}
	var err error
	madeSynsets, err = os.ReadFile(file)
	foldertest.Must(t, err)
	return madeSynsets
}

// archive packs a folder as tar.gz.
func archive(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	foldertest.Must(t, w.AddFS(os.DirFS(filepath.Dir(dir))))
	foldertest.Must(t, w.Close())
	foldertest.Must(t, z.Close())
	name := dir + ".tar.gz"
	foldertest.Must(t, os.WriteFile(name, b.Bytes(), 0o644))
	return name
}

const kaggle = "ImageId,PredictionString\nILSVRC2012_val_00000003,n01440764 1 2 3 4 n01440764 5 6 7 8 \nILSVRC2012_val_00000001,n02119789 12 3 4 5 \n" +
	"ILSVRC2012_val_00000002,n02100735 9 9 10 10 \n"

// ImageNet's validation images lie flat beside the training images in class folders. Each of its files of labels
// gives the indices that the sorted class folders have.
func TestImageNet(t *testing.T) {
	root := foldertest.Tree(t, "train/n01440764/n01440764_1.JPEG", "train/n02100735/n02100735_7.JPEG", "train/n02119789/n02119789_2.JPEG",
		"val/ILSVRC2012_val_00000001.JPEG", "val/ILSVRC2012_val_00000002.JPEG", "val/ILSVRC2012_val_00000003.JPEG")
	want := []string{
		"train/n01440764/n01440764_1 train n01440764", "train/n02100735/n02100735_7 train n02100735", "train/n02119789/n02119789_2 train n02119789",
		"val/ILSVRC2012_val_00000001 val n02119789", "val/ILSVRC2012_val_00000002 val n02100735", "val/ILSVRC2012_val_00000003 val n01440764",
	}
	kit := devkit(t, "1\n3\n2\n")
	solution := filepath.Join(t.TempDir(), "LOC_val_solution.csv")
	foldertest.Must(t, os.WriteFile(solution, []byte(kaggle), 0o644))
	for _, file := range []string{solution, kit, archive(t, kit), filepath.Join(kit, "data", "ILSVRC2012_validation_ground_truth.txt"), filepath.Join(kit, "data", "meta.mat")} {
		d := open(t, root, folder.Config{FolderLabels: map[string]string{"val": file}})
		if got := foldertest.Rows(t, d); !slices.Equal(got, want) || len(d.Skips()) != 0 {
			t.Errorf("%s: %q, skipped %v", file, got, d.Skips())
		}
		if got := d.Meta().Classes(); !slices.Equal(got, []string{"n01440764", "n02100735", "n02119789"}) {
			t.Errorf("%s: classes %q", file, got)
		}
		if !strings.Contains(strings.Join(d.LabelNotices(), "\n"), "ImageNet") {
			t.Errorf("%s: %q", file, d.LabelNotices())
		}
	}
	// Without the training images the classes are all of the kit, so that the indices are the same.
	d := open(t, filepath.Join(root, "val"), folder.Config{Labels: kit})
	if got := d.Meta().Classes(); len(got) != 3 || d.Len() != 3 {
		t.Errorf("val alone: classes %q", got)
	}
	if in, err := d.Info(0); err != nil || in.Label != 2 {
		t.Errorf("val alone: label %d, %v", in.Label, err)
	}
}

func TestKaggleTrainingImages(t *testing.T) {
	root := foldertest.Tree(t, "n01440764/n01440764_1.JPEG", "n02100735/n02100735_7.JPEG", "n02100735/n02100735_8.JPEG")
	file := filepath.Join(t.TempDir(), "LOC_train_solution.csv")
	foldertest.Must(t, os.WriteFile(file, []byte("ImageId,PredictionString\nn02100735_7,n02100735 1 2 3 4\nn01440764_1,n01440764 1 2 3 4\n"), 0o644))
	d := open(t, root, folder.Config{Labels: file})
	if got := foldertest.Rows(t, d); len(got) != 2 || got[0] != "n01440764/n01440764_1  n01440764" {
		t.Errorf("%q", got)
	}
}

func TestImageNetThatDoesNotFit(t *testing.T) {
	root := foldertest.Tree(t, "train/n01440764/1.JPEG", "val/1.JPEG", "val/2.JPEG")
	full := devkit(t, "1\n3\n")
	alone := filepath.Join(t.TempDir(), "ILSVRC2012_validation_ground_truth.txt")
	foldertest.Must(t, os.WriteFile(alone, []byte("1\n3\n"), 0o644))
	mapping := filepath.Join(t.TempDir(), "LOC_synset_mapping.txt")
	foldertest.Must(t, os.WriteFile(mapping, []byte("n01440764 tench, Tinca tinca\nn02119789 kit fox\n"), 0o644))
	empty := filepath.Join(t.TempDir(), "empty")
	foldertest.Must(t, os.MkdirAll(empty, 0o755))
	for name, c := range map[string]struct {
		cfg  folder.Config
		want []string
	}{
		"too many lines":       {folder.Config{FolderLabels: map[string]string{"val": devkit(t, "1\n3\n1\n")}}, []string{"3 images", "the folder val has 2"}},
		"for the whole source": {folder.Config{Labels: full}, []string{"has 3", "val=" + full}},
		"no such number":       {folder.Config{FolderLabels: map[string]string{"val": devkit(t, "1\n1001\n")}}, []string{"line 2", `"1001"`}},
		"not a number":         {folder.Config{FolderLabels: map[string]string{"val": devkit(t, "1\nx\n")}}, []string{"line 2", `"x"`}},
		"without its classes":  {folder.Config{FolderLabels: map[string]string{"val": alone}}, []string{"meta.mat", "ILSVRC2012_devkit_t12.tar.gz"}},
		"a class less":         {folder.Config{FolderLabels: map[string]string{"val": full}}, []string{"n02100735", "no class folder", "--class-order"}},
		"a list of classes":    {folder.Config{Labels: mapping}, []string{"--class-order"}},
		"another archive":      {folder.Config{Labels: archive(t, empty)}, []string{"development kit"}},
		"no such folder":       {folder.Config{FolderLabels: map[string]string{"vall": full}}, []string{"there is no folder vall"}},
		"a folder outside":     {folder.Config{FolderLabels: map[string]string{"../val": full}}, []string{"../val"}},
	} {
		_, err := folder.Open(context.Background(), root, c.cfg)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	// The mapping orders the classes, and knows them all.
	d := open(t, filepath.Join(root, "train"), folder.Config{ClassOrder: mapping})
	if got := d.Meta().Classes(); !slices.Equal(got, []string{"n01440764", "n02119789"}) {
		t.Errorf("%q", got)
	}
	if _, err := folder.Open(context.Background(), foldertest.Tree(t, "n01440764/1.jpg", "n01440765/1.jpg"), folder.Config{ClassOrder: mapping}); err == nil || !strings.Contains(err.Error(), `"n01440765" is missing`) {
		t.Errorf("an unknown class: %v", err)
	}
}

func TestDamagedSynsets(t *testing.T) {
	root := foldertest.Tree(t, "val/1.JPEG", "val/2.JPEG")
	whole := synsets(t)
	for want, data := range map[string][]byte{
		"cut off":                whole[:len(whole)-9],
		"no WordNet IDs":         whole[:128],
		"zlib: invalid header":   slices.Concat(whole[:136], make([]byte, len(whole)-136)),
		"zlib: invalid checksum": slices.Concat(whole[:len(whole)-4], make([]byte, 4)),
	} {
		kit := devkit(t, "1\n3\n")
		foldertest.Must(t, os.WriteFile(filepath.Join(kit, "data", "meta.mat"), data, 0o644))
		_, err := folder.Open(context.Background(), root, folder.Config{FolderLabels: map[string]string{"val": kit}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "meta.mat") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
