package edit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// RepairDescription restores dataset.json and the table of checksums of the dataset at path, without which nothing opens. It
// returns the names of the files that it wrote again, or would write with dryRun; none if the dataset opens. A flipped bit is
// found. A table that is missing, or has more damage, is made of the files as they are, if the dataset then opens; rebuilt is set. The
// index vouches for the manifest then, and verify.Run compares each sample with the checksum that it was written with.
//
// Repair and verify.Run need what this restores. Formats of one file, HDF5, have no such files.
func RepairDescription(ctx context.Context, reg formats.Registry, path string, dryRun bool) (names []string, rebuilt bool, err error) {
	f, err := reg.ByExistingPath(path)
	if err != nil {
		return nil, false, err
	}
	if _, ok := f.(formats.WritableFormat); !ok {
		return nil, false, nil
	}
	if err := opens(f, path); !errors.Is(err, formats.ErrDamaged) {
		return nil, false, nil // it opens, or another error than this function's is in the way
	}
	if _, err := staging.Recover(path); err != nil {
		return nil, false, err
	}
	dir := path
	if p, err := sharded.ParseShardPath(path); err == nil && !durable.IsDir(path) {
		dir = p.Sidecar()
	}
	if !durable.IsDir(dir) {
		return nil, false, nil
	}
	done, err := sidecar.Mend(ctx, dir, dryRun)
	if err != nil {
		return nil, false, fmt.Errorf("%s: the dataset's description is lost: pack it again: %w", path, err)
	}
	if done.Rebuilt && !dryRun {
		if err := opens(f, path); err != nil {
			return nil, false, errors.Join(fmt.Errorf("%s: the table of checksums is lost, and nothing else tells whether the description is what was written: pack it again: %w", path, err),
				os.Remove(filepath.Join(dir, checksum.ChecksumsName)))
		}
	}
	return done.Names, done.Rebuilt, nil
}

// opens returns the error of opening the dataset at path.
func opens(f formats.Format, path string) error {
	ds, err := f.Open(path)
	if err != nil {
		return err
	}
	return ds.Close()
}
