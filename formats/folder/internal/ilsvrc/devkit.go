package ilsvrc

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Bounds of an archive of the development kit, which has 2.5 MB, unpacked 10.
const (
	maxDevkit     = 1 << 30
	maxDevkitFile = 64 << 20
)

var errNoDevkit = errors.New("it is not ImageNet's development kit: it lacks " + groundTruthName + " or " + synsetsName)

// readDevkitArchive returns the two files of the development kit that the labels follow from. The archive is
// read as a stream, and not further than to the second of them.
func readDevkitArchive(in vfs.FS, name string) (truth, synsets []byte, err error) {
	f, err := in.OpenText(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if !strings.HasSuffix(strings.ToLower(name), ".tar") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, fmt.Errorf("not a tar.gz: %w", err)
		}
		r = z
	}
	limited := &io.LimitedReader{R: r, N: maxDevkit}
	t := tar.NewReader(limited)
	for truth == nil || synsets == nil {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) || limited.N == 0:
			return nil, nil, errNoDevkit
		case err != nil:
			return nil, nil, err
		case h.Typeflag != tar.TypeReg:
			continue
		}
		to := &truth
		switch path.Base(h.Name) {
		case groundTruthName:
		case synsetsName:
			to = &synsets
		default:
			continue
		}
		if *to, err = readMember(t, h); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path.Base(h.Name), err)
		}
	}
	return truth, synsets, nil
}

func readMember(r io.Reader, h *tar.Header) ([]byte, error) {
	if h.Size > maxDevkitFile {
		return nil, fmt.Errorf("a file of %d bytes is too large for the development kit", h.Size)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxDevkitFile))
	if err == nil && len(b) == 0 {
		err = errors.New("it is empty")
	}
	return b, err
}
