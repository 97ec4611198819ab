package codec

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// DefaultMaxBytes is the size of the largest file that ReadAll reads.
const DefaultMaxBytes = 256 << 20

// sniffed is how many bytes tell whether data are an image.
const sniffed = 512

// ReadAll returns all bytes of r, at most limit of them, or DefaultMaxBytes if limit is 0. Data that do not
// begin as an image are refused at once.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	switch {
	case limit < 0:
		return nil, fmt.Errorf("codec: MaxBytes %d: it must not be negative", limit)
	case limit == 0:
		limit = DefaultMaxBytes
	}
	var b bytes.Buffer
	if known, ok := r.(interface{ Len() int }); ok { // of bytes and strings
		b.Grow(int(min(int64(known.Len()), limit)) + bytes.MinRead)
	}
	limited := io.LimitReader(r, limit+1)
	if _, err := io.CopyN(&b, limited, sniffed); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the image: %w", err)
	}
	if b.Len() > 0 && formats.Sniff(b.Bytes()) == "" {
		return nil, notImage(b.Bytes())
	}
	if _, err := b.ReadFrom(limited); err != nil {
		return nil, fmt.Errorf("read the image: %w", err)
	}
	if int64(b.Len()) > limit {
		return nil, fmt.Errorf("%w: the file is larger than %d bytes (MaxBytes)", pixel.ErrTooLarge, limit)
	}
	return b.Bytes(), nil
}
