package ilsvrc

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
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

// wordNetID is a WordNet ID as MATLAB stores text: as bytes, or as UTF-16.
var wordNetID = regexp.MustCompile(`n\x00?(?:[0-9]\x00?){8}`)

// parseSynsets returns the WordNet IDs of meta.mat in the order of their numbers, which start at 1: the kit's readme.txt
// promises that synsets(i).ILSVRC2012_ID == i. The file is MATLAB's version 5: a header of 128 bytes, then elements
// of a type and a size, which zlib compresses (The MathWorks, MAT-File Format). Nothing else in it looks like an ID.
func parseSynsets(b []byte) ([]string, error) {
	const header, compressed = 128, 15
	var text []byte
	for b = b[min(header, len(b)):]; len(b) >= 8 && len(text) < maxDevkitFile; {
		kind, size := binary.LittleEndian.Uint32(b), uint64(binary.LittleEndian.Uint32(b[4:]))
		if kind != compressed {
			text = append(text, b...)
			break
		}
		if b = b[8:]; size > uint64(len(b)) {
			return nil, errors.New("the file is cut off")
		}
		z, err := zlib.NewReader(bytes.NewReader(b[:size]))
		if err != nil {
			return nil, err
		}
		element, err := io.ReadAll(io.LimitReader(z, maxDevkitFile))
		if err != nil {
			return nil, err
		}
		text, b = append(text, element...), b[size:]
	}
	var ids []string
	for _, id := range wordNetID.FindAll(text, -1) {
		ids = append(ids, string(bytes.ReplaceAll(id, []byte{0}, nil)))
	}
	if len(ids) == 0 {
		return nil, errors.New("it has no WordNet IDs: it is not of the development kit of ILSVRC2012")
	}
	return ids, nil
}
