package cifar

import "github.com/dsconv/dsconv/internal/storage/arrays"

const (
	side     = 32
	channels = 3
	pixels   = side * side * channels
)

// layout is the files of one version of one dataset.
type layout struct {
	folder string
	labels []labelField
	train  []string // files of the split train
	test   string
	python bool
	meta   string // of Python: the pickle of names
}

// labelField is a field of labels.
type labelField struct {
	name  string
	names string // the file, or the key of the pickle, with the names of its classes
	keys  string // of Python: the key of the labels
}

var layouts = []layout{
	{
		folder: "cifar-10-batches-bin", labels: []labelField{{name: "label", names: "batches.meta.txt"}},
		train: []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
		test:  "test_batch.bin",
	},
	{
		folder: "cifar-100-binary", test: "test.bin", train: []string{"train.bin"},
		labels: []labelField{{name: "label", names: "fine_label_names.txt"}, {name: "coarse", names: "coarse_label_names.txt"}},
	},
	{
		folder: "cifar-10-batches-py", python: true, meta: "batches.meta", labels: []labelField{{"label", "label_names", "labels"}},
		train: []string{"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"}, test: "test_batch",
	},
	{
		folder: "cifar-100-python", python: true, meta: "meta", train: []string{"train"}, test: "test",
		labels: []labelField{{"label", "fine_label_names", "fine_labels"}, {"coarse", "coarse_label_names", "coarse_labels"}},
	},
}

// find returns the folder and the version of the dataset in root; ok is false if there is none, or more than one.
func find(root arrays.Dir) (dir arrays.Dir, l *layout, ok bool) {
	for i := range layouts {
		if layouts[i].isIn(root) {
			return root, &layouts[i], true
		}
	}
	for i := range layouts {
		if sub := root.Sub(layouts[i].folder); layouts[i].isIn(sub) {
			if ok {
				return dir, nil, false
			}
			dir, l, ok = sub, &layouts[i], true
		}
	}
	return dir, l, ok
}

// isIn reports whether dir has the names of classes and at least one split.
func (l *layout) isIn(dir arrays.Dir) bool {
	names := l.meta
	if !l.python {
		names = l.labels[0].names
	}
	return dir.IsFile(names) && (dir.IsFile(l.train[0]) || dir.IsFile(l.test))
}
