package bench

import (
	"fmt"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// diskSize is the number of bytes in the files of the dataset at path: only the images of a
// folder, with indexes, manifest and checksums of other formats.
func diskSize(path string, ds formats.Dataset) (int64, error) {
	if ds.Meta().Format == "folder" {
		return imagesSize(ds)
	}
	files := []string{path}
	if f, ok := ds.(interface{ DataFiles() []string }); ok { // of another program
		files = f.DataFiles()
	} else if st, err := os.Stat(path); err != nil || !st.IsDir() {
		p, err := sharded.ParseShardPath(path)
		if err != nil {
			return 0, err
		}
		// A file without a sidecar, such as HDF5's, is the whole dataset.
		if shards, err := p.ExistingFiles(); err == nil && len(shards) > 0 {
			files = shards
		}
	}
	var sum int64
	for _, file := range files {
		n, err := sharded.SizeOfFiles(file)
		if err != nil {
			return 0, fmt.Errorf("size of %s: %w", file, err)
		}
		sum += n
	}
	return sum, nil
}

func imagesSize(ds formats.Dataset) (sum int64, err error) {
	for i := range ds.Len() {
		in, err := ds.Info(i)
		if err != nil {
			return 0, err
		}
		sum += in.Size
	}
	return sum, nil
}
