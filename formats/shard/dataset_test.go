package shard

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

func TestRangesOpen(t *testing.T) {
	dir := t.TempDir()
	peerSet(t, filepath.Join(dir, "x-%03d.tar"))
	for name, ok := range map[string]bool{
		"x-{000..002}.tar": true, "x-%03d.tar": true, "x-{000..001}.tar": false, "x-{001..002}.tar": false, "x-{002..000}.tar": false, "y-%03d.tar": false,
	} {
		path := filepath.Join(dir, name)
		ds, err := Format{}.Open(path)
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			if ds.Len() != len(peerKeys) || !(Format{}).Match(path) {
				t.Errorf("%s: %d samples", name, ds.Len())
			}
			if err := ds.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A frame that claims more than it can hold, or is followed by another, takes no memory.
func TestHostileFrames(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	content := bytes.Repeat([]byte("content "), 128)
	good := enc.EncodeAll(content, nil)
	if got, err := decompress(dec, good, nil); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("%q, %v", got, err)
	}
	huge := []byte("\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\xff\x00\x00\x00\x01\x00\x00") // 2^40 - 1 bytes in an empty block
	for name, frame := range map[string][]byte{
		"none": nil, "cut": good[:len(good)-1], "huge": huge, "two": slices.Concat(good, good), "huge second": slices.Concat(good, huge), "text": []byte("no frame at all"),
	} {
		if _, err := decompress(dec, frame, nil); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}
