package convert

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// checkSpace returns an error if the images whose bytes are copied do not fit on the output's disk. How large others become is
// not known before, and a file system that cannot tell its free space is tried.
func (p *Plan) checkSpace() error {
	free, err := cache.FreeSpace(filepath.Dir(filepath.Clean(p.Path)))
	if err != nil || p.copied <= free {
		return nil //nolint:nilerr // see above
	}
	written, _ := sharded.SizeOfFiles(p.Path + sidecar.PartialSuffix) // by an earlier run; nothing is there, or what can be read
	missing := p.copied - written
	if missing <= free {
		return nil
	}
	return fmt.Errorf("%s: %w: its images need %s more, and %s is free there; make room, or write to another disk",
		p.Path, syscall.ENOSPC, megabytes(missing), megabytes(free))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
