package dsconv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/items"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// PackItems packs the samples that other processes send, as the Python package does: header describes them as JSON, and sockets are file
// descriptors of Unix sockets, one for each process, which are closed. The format is internal to one version of dsconv.
func PackItems(ctx context.Context, header io.Reader, sockets []int, dst string, o Options) (r *Report, err error) {
	r = &Report{}
	if ctx == nil || header == nil {
		return r, wrongOptions{errors.New("dsconv.PackItems: the context or the header is nil")}
	}
	h, err := items.ReadHeader(header)
	if err != nil {
		return r, wrongOptions{err}
	}
	ds, err := openItems(h, sockets)
	if err != nil {
		return r, wrongOptions{err}
	}
	defer context.AfterFunc(ctx, func() { _ = ds.Close() })() // ends reads of processes that do not answer
	r, err = PackDataset(ctx, ds, dst, o)
	if g, ok := ds.(formats.Growing); ok && err != nil && !g.Resumes() {
		_ = staging.DiscardEmpty(dst) // a repeated call could not go on from it; what another one has begun stays
		if o.Table == "" && r.Table != "" && len(r.Skipped) == 0 {
			err = errors.Join(err, os.Remove(r.Table)) // all that it says is in err
			r.Table = ""
		}
	}
	return r, errors.Join(err, ds.Close())
}

func openItems(h *items.Header, sockets []int) (formats.Dataset, error) {
	fds := make([]uintptr, len(sockets))
	for k, fd := range sockets {
		if fd < 3 {
			return nil, fmt.Errorf("file descriptor %d: sockets begin at 3", fd)
		}
		fds[k] = uintptr(fd)
	}
	switch {
	case h.Length >= 0:
		return items.OpenIndexed(h, fds)
	case len(fds) != 1:
		return nil, fmt.Errorf("%d processes send samples of unknown number: only one can", len(fds))
	}
	return items.OpenStream(h, fds[0])
}
