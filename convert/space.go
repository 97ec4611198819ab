package convert

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// checkSpace returns an error if the images whose bytes are copied do not fit on the output's disk. How large others become is
// not known before, and a file system that cannot tell its free space is tried.
func (p *Plan) checkSpace() error {
	free, err := cache.FreeSpace(filepath.Dir(filepath.Clean(p.Path)))
	if err != nil || p.copied <= free {
		return nil //nolint:nilerr // see above
	}
	missing := p.copied - written(p.Path+sidecar.PartialSuffix)
	if missing <= free {
		return nil
	}
	return fmt.Errorf("%s: %w: its images need %s more, and %s is free there; make room, or write to another disk",
		p.Path, syscall.ENOSPC, megabytes(missing), megabytes(free))
}

// written returns the size of the files in a folder.
func written(dir string) (n int64) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // nothing was written there
		}
		if st, err := e.Info(); err == nil && st.Mode().IsRegular() {
			n += st.Size()
		}
		return nil
	})
	return n
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
