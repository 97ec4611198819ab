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
	"math"
	"path"
	"regexp"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/wire"
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

// parseSynsets returns the WordNet IDs of meta.mat by their numbers, which are 1 to 1000: those with children have larger
// ones. The file is MATLAB's version 5: a header of 128 bytes, then elements of a type and a size, which zlib compresses
// (The MathWorks, MAT-File Format). An ID's number is the field before it.
func parseSynsets(b []byte) (map[int]string, error) {
	text, err := unpackMatlab(b)
	if err != nil {
		return nil, err
	}
	ids := map[int]string{}
	for _, at := range wordNetID.FindAllIndex(text, -1) {
		n := numberBefore(text[:at[0]])
		if ids[n] != "" {
			return nil, fmt.Errorf("two WordNet IDs have the number %d", n)
		}
		if n >= 1 && n <= 1000 {
			ids[n] = string(bytes.ReplaceAll(text[at[0]:at[1]], []byte{0}, nil))
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("it has no WordNet IDs: it is not of the development kit of ILSVRC2012")
	}
	return ids, nil
}

func unpackMatlab(b []byte) (text []byte, err error) {
	const header, compressed = 128, 15
	for b = b[min(header, len(b)):]; len(b) >= 8 && len(text) < maxDevkitFile; {
		kind, size := binary.LittleEndian.Uint32(b), uint64(binary.LittleEndian.Uint32(b[4:]))
		if kind != compressed {
			return append(text, b...), nil
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
	return text, nil
}

// numberBefore returns the value of the array of one number that ends where the array of the WordNet ID begins which
// follows b; 0 if there is none. Between them are the tags of that array, its flags, size and empty name.
func numberBefore(b []byte) int {
	const tags, double = 56, 9
	if len(b) < tags+16 {
		return 0
	}
	if length := binary.LittleEndian.Uint32(b[len(b)-4:]); length != 9 && length != 18 {
		return 0 // an ID within another text
	}
	b = b[len(b)-tags-16 : len(b)-tags]
	if binary.LittleEndian.Uint64(b) == 8<<32|double {
		n, _ := wire.Whole(math.Float64frombits(binary.LittleEndian.Uint64(b[8:])), math.MaxInt32)
		return n
	}
	// MATLAB stores a small whole number in one or two bytes, in the tag itself.
	if size := binary.LittleEndian.Uint16(b[10:]); size != 1 && size != 2 {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[12:])) // what one byte does not fill is 0
}
