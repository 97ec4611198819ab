package folder

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// kindOfFile is what another program's file is known by, and what to do with it. FOLDER is the one that it is in.
type kindOfFile struct {
	names   string // a pattern of the name, in lower case
	content string // of the file's beginning; "" for any
	advice  string
}

// otherPrograms are files that are no images, lists or archives, the special ones first.
var otherPrograms = []kindOfFile{
	{"*.beton", "", "it is a file of FFCV's, which is not read: pack the images that it was made from"},
	{"*.rec", "", "it is a file of MXNet's records, which are not read: write the images as files into a folder for each class (mxnet.recordio.unpack_img), and pack that"},
	{"*.idx", "", "it is an index of MXNet's records, which are not read: write the images as files into a folder for each class (mxnet.recordio.unpack_img), and pack that"},
	{"*.arrow", "", `it is an Arrow file, which is not read: write Parquet instead: datasets.load_from_disk("FOLDER").to_parquet("train.parquet"), for each split`},
	{"state.json", "_data_files", `it describes Arrow files, which are not read: write Parquet instead: datasets.load_from_disk("FOLDER").to_parquet("train.parquet")`},
	{"dataset_dict.json", "splits", `it describes Arrow files, which are not read: write Parquet instead: for each split d of datasets.load_from_disk("FOLDER"), d.to_parquet("SPLIT.parquet")`},
	{"*.pt", "", "it is a file of torch.save's; " + foreign.FromPython},
	{"*.pth", "", "it is a file of torch.save's; " + foreign.FromPython},
	{"*.npy", "", "it is an array of NumPy; " + foreign.FromPython},
	{"*.npz", "", "it has arrays of NumPy; " + foreign.FromPython},
	{"*idx[1-4]-ubyte*", "", "it is a file of MNIST or one of its relatives; " + foreign.FromPython},
	{"data_batch_[1-5]*", "", "it is a file of CIFAR-10; " + foreign.FromPython},
	{"test_batch*", "", "it is a file of CIFAR-10; " + foreign.FromPython},
	{"fine_label_names.txt", "", "it is a file of CIFAR-100; " + foreign.FromPython},
	{"meta", "fine_label_names", "it is a file of CIFAR-100; " + foreign.FromPython},
	{"cifar-10*-*.tar.gz", "", "it is an archive of CIFAR's files; " + foreign.FromPython},
	{"*.mat", "", "it is a file of MATLAB; " + foreign.FromPython},
	{"*.mds*", "", "it is a shard of MDS: give FOLDER, which must have the index.json"},
	{"index.json", `"chunks"`, "it is a dataset of LitData's, which is not read: pack the images that it was made from"},
	{"index.json", `"shards"`, "it is the index of MDS shards: give FOLDER"},
	{"dataset_info.json", "", "it describes a dataset of TensorFlow Datasets or Hugging Face: give FOLDER"},
	{"features.json", "", "it describes a dataset of TensorFlow Datasets: give FOLDER"},
}

// adviceOn returns what to do with a file of another program, "" if it is not known.
func adviceOn(file string) string {
	name := strings.ToLower(filepath.Base(file))
	for _, k := range otherPrograms {
		if is, _ := filepath.Match(k.names, name); is && hasContent(file, k.content) {
			return strings.ReplaceAll(k.advice, "FOLDER", filepath.Dir(file))
		}
	}
	return ""
}

// hasContent reports whether the file's beginning has the text.
func hasContent(file, text string) bool {
	if text == "" {
		return true
	}
	f, err := unblocked.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 1<<16)
	n, _ := f.ReadAt(head, 0)
	return bytes.Contains(head[:n], []byte(text))
}

// datasetSuffixes are those of data files whose folder, or one above it, is a dataset.
var datasetSuffixes = []string{".parquet", ".tar", ".tfrecord", ".tfrec", ".mds"}

// suggestOthers says what another program left in a folder without images, or which folders in it are datasets.
func suggestOthers(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if advice := adviceOn(filepath.Join(dir, e.Name())); advice != "" && !e.IsDir() {
			return fmt.Sprintf("; it has %s: %s", e.Name(), advice)
		}
	}
	const most = 5
	found := datasetsBelow(dir, 0, nil)
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 {
		return ""
	}
	text := strings.Join(found[:min(most, len(found))], ", ")
	if len(found) > most {
		text += fmt.Sprintf(" and %d more", len(found)-most)
	}
	return "; data files of other programs are below it: give one of the folders " + text
}

// datasetsBelow adds the folders below dir that have data files, or that have folders of splits with data files.
func datasetsBelow(dir string, depth int, found []string) []string {
	const deepest, most = 3, 100
	entries, _ := os.ReadDir(dir) // what cannot be read has none
	for _, e := range entries {
		below := filepath.Join(dir, e.Name())
		switch {
		case len(found) >= most:
			return found
		case strings.HasSuffix(e.Name(), ".dsconv") || strings.HasSuffix(e.Name(), ".partial"): // of dsconv's own
		case e.IsDir() && depth < deepest:
			found = datasetsBelow(below, depth+1, found)
		case depth > 0 && !e.IsDir() && slices.ContainsFunc(datasetSuffixes, func(s string) bool { return strings.Contains(strings.ToLower(e.Name()), s) }):
			if formats.IsSplitWord(filepath.Base(dir)) && depth > 1 {
				dir = filepath.Dir(dir)
			}
			return append(found, dir)
		}
	}
	return found
}
