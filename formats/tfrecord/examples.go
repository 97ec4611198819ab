package tfrecord

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Examples is TFRecords of other programs, "tf-example". The zero value is ready for use.
type Examples struct{}

var (
	_ formats.Format        = Examples{}
	_ formats.Aliased       = Examples{}
	_ formats.OptionsOpener = Examples{}
)

// Name implements formats.Format.
func (Examples) Name() string { return "tf-example" }

// Aliases implements formats.Aliased.
func (Examples) Aliases() []string { return []string{"tfexample"} }

// Match implements formats.Format: it matches files that are named like TFRecords and begin like them,
// folders with such files, and patterns of them, unless dsconv wrote them.
func (Examples) Match(path string) bool {
	st, err := os.Stat(path)
	if err == nil && st.Mode().IsRegular() && !isRecordName(filepath.Base(path)) {
		return false
	}
	if err != nil && !isPattern(path) {
		return false
	}
	files, err := find(path)
	if err != nil || len(files) == 0 {
		return false
	}
	return !isOwn(files[0].path) && begins(files[0].path) == nil
}

// isOwn reports whether a file is part of a dataset of dsconv's own.
func isOwn(path string) bool {
	entries, err := os.ReadDir(filepath.Dir(path))
	return sharded.IsOwn(path) || err == nil && sidecars(filepath.Dir(path), entries)(filepath.Base(path))
}

var errCompressed = fmt.Errorf("%w: it is compressed as a whole, so samples cannot be read at random: decompress it first "+
	"(gunzip, or write the records again without TFRecordOptions)", formats.ErrNotDataset)

// begins returns an error if a file does not begin with a frame. An empty file has no records; a compressed
// file is one of this format, of which opening says that it cannot be read.
func begins(path string) error {
	f, err := unblocked.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, tfexample.FrameHead)
	n, err := io.ReadFull(f, head)
	if n >= 2 && isCompressed(head) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = tfexample.FrameLength(head)
	return err
}

// isCompressed reports whether a file that does not begin with a frame is gzip or zlib.
func isCompressed(head []byte) bool {
	if _, err := tfexample.FrameLength(head); err == nil || len(head) < 2 {
		return false
	}
	return head[0] == 0x1f && head[1] == 0x8b || head[0] == 0x78 && (int(head[0])<<8|int(head[1]))%31 == 0
}

// Open implements formats.Format.
func (f Examples) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith implements formats.OptionsOpener. The map names features of the fields; see the package's documentation.
func (Examples) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	return openExamples(ctx, path, o)
}
