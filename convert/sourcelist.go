package convert

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// The source list is a file of DST.partial that records the samples of the plan, one for each
// position, in one zstd frame with its checksum. Resume compares it with the present source, to
// name samples that were added, removed or changed.
const (
	sourceListMagic = "DSCSRC1\n"
	// maxTextBytes is the most bytes of a text in the list.
	maxTextBytes = 1 << 20
)

// sourceEntry is one sample of the source list.
type sourceEntry struct {
	key, path, split, columns string
	size, modTime, label      int64 // label: see labelSummer
	sum                       [16]byte
	ready                     bool

	class int64 // the label that Info has; not in the list
}

// labelSummer is a source that has more labels than Info returns.
type labelSummer interface {
	// LabelSum returns the label of sample i, whose Info is in, if it is the only one, else a checksum of all labels.
	LabelSum(i int, in *formats.Info) int64
}

// entry returns the sample at position pos of the present source.
func (p *Plan) entry(pos int) (sourceEntry, error) {
	i := p.order.at(pos)
	in, err := p.infoAt(pos)
	if err != nil {
		return sourceEntry{}, err
	}
	e := sourceEntry{
		key: in.Key, path: in.Source.Path, split: in.Split, columns: strings.Join(in.Columns, "\x00"),
		size: in.Source.Size, modTime: in.Source.ModTime, label: in.Label, sum: in.Checksum, ready: p.isReady(i), class: in.Label,
	}
	e.label = labelSum(p.src, i, &in)
	return e, nil
}

// labelSum returns the label of sample i of src, whose Info is in, or a checksum of all its labels.
func labelSum(src formats.Dataset, i int, in *formats.Info) int64 {
	if d, ok := src.(labelSummer); ok {
		return d.LabelSum(i, in)
	}
	return in.Label
}

// listID identifies the source list and the division into files; 0 if they have to be compared.
func (p *Plan) listID() uint64 {
	if p.sourceList == 0 {
		return 0
	}
	return p.sourceList ^ p.layout()
}

// name returns the sample's name for messages: its path, or its key.
func (e *sourceEntry) name() string { return cmp.Or(e.path, e.key) }

// layout hashes the files of the output and which of them are kept.
func (p *Plan) layout() uint64 {
	h := newFingerprint()
	for _, f := range p.files {
		h.file(f.keep, f.end)
	}
	return h.sum()
}

func (p *Plan) sourceListPath() string {
	return filepath.Join(filepath.Clean(p.Path)+sidecar.PartialSuffix, staging.SourceListName)
}

// writeSourceList writes the source list. It must be on the disk before the first checkpoint.
func (p *Plan) writeSourceList() error {
	if p.growing != nil {
		return nil // its samples are not known
	}
	return durable.Write(p.sourceListPath(), p.encodeSourceList)
}

func (p *Plan) encodeSourceList(f io.Writer) error {
	z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint64([]byte(sourceListMagic), p.layout())
	for pos := range p.Len() {
		e, err := p.entry(pos)
		if err != nil {
			return err
		}
		b = e.append(b)
		if _, err := z.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	return z.Close()
}

func (e *sourceEntry) append(b []byte) []byte {
	for _, s := range []string{e.key, e.path, e.split, e.columns} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, x := range []int64{e.size, e.modTime, e.label} {
		b = binary.AppendVarint(b, x)
	}
	b = append(b, e.sum[:]...)
	if e.ready {
		return append(b, 1)
	}
	return append(b, 0)
}

// sourceListReader reads the entries of a source list one by one.
type sourceListReader struct {
	f *os.File
	z *zstd.Decoder
	r *bufio.Reader

	layout uint64
}

// errSourceList is returned if the source list is missing or incomplete.
var errSourceList = fmt.Errorf("%w: cannot read the list of the source's samples", formats.ErrDamaged)

func openSourceList(path string) (*sourceListReader, error) {
	f, err := unblocked.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errSourceList
	}
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l := &sourceListReader{f: f, z: z, r: bufio.NewReader(z)}
	head := make([]byte, len(sourceListMagic)+8)
	if _, err := io.ReadFull(l.r, head); err != nil || string(head[:len(sourceListMagic)]) != sourceListMagic {
		l.close()
		return nil, errSourceList
	}
	l.layout = binary.LittleEndian.Uint64(head[len(sourceListMagic):])
	return l, nil
}

func (l *sourceListReader) close() {
	l.z.Close()
	_ = l.f.Close()
}

// next returns the next entry; ok is false after the last one.
func (l *sourceListReader) next() (e sourceEntry, ok bool, err error) {
	if _, err := l.r.Peek(1); errors.Is(err, io.EOF) {
		return e, false, nil
	}
	e, err = readEntry(l.r)
	return e, err == nil, err
}

// readEntry reads what append appended.
func readEntry(r *bufio.Reader) (e sourceEntry, err error) {
	text := func() string {
		n, e := binary.ReadUvarint(r)
		if e == nil && n > maxTextBytes {
			e = errSourceList
		}
		b := []byte(nil)
		if err == nil && e == nil {
			b = make([]byte, n)
			_, e = io.ReadFull(r, b)
		}
		err = errors.Join(err, e)
		return string(b)
	}
	number := func() int64 {
		x, e := binary.ReadVarint(r)
		err = errors.Join(err, e)
		return x
	}
	e = sourceEntry{key: text(), path: text(), split: text(), columns: text()}
	e.size, e.modTime, e.label = number(), number(), number()
	var end [17]byte
	_, short := io.ReadFull(r, end[:])
	copy(e.sum[:], end[:])
	e.ready = end[16] == 1
	if errors.Join(err, short) != nil {
		return e, errSourceList
	}
	return e, nil
}

// fingerprint hashes what a plan packs: the samples, their order and the files they go to.
type fingerprint struct {
	h *xxh3.Hasher
	b []byte

	entries *xxh3.Hasher // of all that the source list has
	unsure  bool         // a file could have changed unseen: its time is not known
}

func newFingerprint() *fingerprint { return &fingerprint{h: xxh3.New(), entries: xxh3.New()} }

// sample adds a sample; label is what the source list has.
func (f *fingerprint) sample(in *formats.Info, label int64, split string, ready bool) {
	f.b = append(append(append(f.b[:0], in.Key...), 0), split...)
	for _, x := range []int64{in.Source.Size, in.Source.ModTime, in.Label} {
		f.b = binary.LittleEndian.AppendUint64(f.b, uint64(x))
	}
	f.b = append(f.b, in.Checksum[:]...)
	if ready {
		f.b = append(f.b, 1)
	}
	_, _ = f.h.Write(f.b)
	f.b = binary.LittleEndian.AppendUint64(append(f.b, in.Source.Path...), uint64(label))
	for _, c := range in.Columns {
		f.b = append(append(f.b, 0), c...)
	}
	_, _ = f.entries.Write(f.b)
	f.unsure = f.unsure || in.Source.ModTime == 0 && in.Checksum == [16]byte{}
}

// sourceList identifies the source list: if it is that of an earlier run, the source has not changed. 0 if that cannot be known.
func (f *fingerprint) sourceList() uint64 {
	if f.unsure {
		return 0
	}
	return f.entries.Sum64()
}

func (f *fingerprint) file(keep bool, end int) {
	f.b = binary.AppendVarint(append(f.b[:0], "file"...), int64(end))
	if keep {
		f.b = append(f.b, 1)
	}
	_, _ = f.h.Write(f.b)
}

func (f *fingerprint) sum() uint64 { return f.h.Sum64() }
