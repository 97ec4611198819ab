package reader

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/legible"
)

// Cache configures the cache of samples in memory. There is one per machine: all Loaders of the
// same dataset share it, also those of other ranks and processes. The zero value is no
// cache: packed datasets are mapped, and the system's page cache keeps what was read.
type Cache struct {
	Kind CacheKind `json:"kind,omitempty"`
	// Limit is the maximum number of bytes of all samples; 0 is half of the free memory.
	Limit int64 `json:"limit,omitempty"`
	// Dir is the folder of the shared file; "" is /dev/shm where there is one, else the folder for
	// temporary files.
	Dir string `json:"dir,omitempty"`
}

// CacheKind is the form in which samples are cached.
type CacheKind string

const (
	// NoCache caches nothing.
	NoCache CacheKind = ""
	// Encoded caches samples as they are stored: no files are opened and read any more.
	Encoded CacheKind = "encoded"
	// Decoded caches the images' pixels: nothing is decoded any more. Pixels take some ten times
	// as much memory.
	Decoded CacheKind = "decoded"
)

// ParseCache reads "encoded" or "decoded:8GB"; "" is none.
func ParseCache(text string) (c Cache, err error) {
	kind, size, limited := strings.Cut(text, ":")
	if c.Kind = CacheKind(kind); limited {
		c.Limit, err = legible.ParseSize(size)
	}
	if err == nil {
		err = c.check()
	}
	return c, err
}

func (c Cache) check() error {
	switch c.Kind {
	case NoCache, Encoded, Decoded:
	default:
		return fmt.Errorf("cache %q: wanted %s or %s, or one of them with :SIZE", c.Kind, Encoded, Decoded)
	}
	if c.Limit < 0 {
		return fmt.Errorf("cache of %d bytes: the number must be positive", c.Limit)
	}
	return nil
}

// CacheStats is the state of a cache. All but Hits, Misses and Refused are those of the machine, whose
// processes share it.
type CacheStats struct {
	Limit   int64 // maximum bytes of all samples
	Used    int64 // bytes of all samples
	Samples int   // that are in it
	// Full is why samples were not taken: full, or no memory; "" if all were.
	Full string
	// Hits and Misses are this Loader's samples that were in it and that were not, Refused those that
	// it did not take.
	Hits, Misses, Refused int64
}

// CacheStats is the state of the cache, after Close that before it; zeros without one.
func (l *Loader) CacheStats() CacheStats {
	var s cache.Stats
	if err := l.enter(); err != nil {
		s = l.held.statsAtClose()
	} else {
		defer l.leave()
		if l.cache != nil {
			s = l.cache.Stats()
		}
	}
	c := CacheStats{Limit: s.Limit, Used: s.Used, Samples: s.Samples, Hits: s.Hits, Misses: s.Misses, Refused: s.Refused}
	if s.Full != cache.NotFull {
		c.Full = s.Full.String()
	}
	return c
}

// openCache attaches to the machine's cache of the dataset.
func (l *Loader) openCache() error {
	c := l.config.Cache
	if c.Kind == NoCache || l.dataset.Len() == 0 {
		return nil
	}
	name, err := l.cacheName()
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	opened, err := cache.Open(cache.Config{Dir: c.Dir, Name: name, Limit: c.Limit, Samples: l.dataset.Len()})
	if err != nil {
		return err
	}
	l.cache, l.held.cache = opened, opened
	return nil
}

// cacheName is a hash of everything that determines what is in the cache.
func (l *Loader) cacheName() (string, error) {
	h := sha256.New()
	e := json.NewEncoder(h)
	c := &l.config
	err := e.Encode([]any{l.dataset.Meta(), c.Cache.Kind, c.Color, c.deep(), c.ApplyOrientation, c.FastDecode, c.MaxPixels, c.Fields, jpeg.DecoderVersion()})
	if err != nil {
		return "", err
	}
	if d, ok := l.dataset.(formats.Identifier); ok {
		if err := d.Identify(h); err != nil {
			return "", err
		}
	}
	for i := range l.dataset.Len() {
		if err := hashInfo(h, l.dataset, i); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func hashInfo(h hash.Hash, ds formats.Dataset, i int) error {
	in, err := ds.Info(i)
	if err != nil {
		return err
	}
	var b [512 + 64]byte
	p := append(b[:0], in.Key...)
	p = append(p, in.Checksum[:]...)
	for _, x := range []int64{int64(len(in.Key)), in.Label, in.Size, in.Source.Size, in.Source.ModTime} {
		p = binary.LittleEndian.AppendUint64(p, uint64(x))
	}
	_, err = h.Write(p)
	return err
}

// fetch reads sample i into the worker: from the cache, or from the dataset and then into the cache.
// It returns the time.
func (w *worker) fetch(i int, start time.Duration) (time.Duration, error) {
	l := w.loader
	if l.cache != nil {
		if b, ok := l.cache.Get(i); ok {
			w.cached = b
			w.orientation = l.record.view(b, &w.sample)
			return w.lap(stageRead, start), nil
		}
	}
	if err := w.readSample(i); err != nil {
		return start, err
	}
	w.fetched = true
	now := w.lap(stageRead, start)
	w.bytes.Add(int64(len(w.sample.Values[l.image].Data)))
	if err := w.orient(); err != nil {
		return now, err
	}
	if l.cache == nil || l.cache.Stats().Full != cache.NotFull {
		return now, nil
	}
	return w.keep(i, now)
}

// orient finds the orientation of the designated image if extra fields need it.
func (w *worker) orient() error {
	w.orientation = 1
	if !w.loader.config.ApplyOrientation || len(w.loader.frame.fields) == 0 {
		return nil
	}
	h, err := w.decoder.Inspect(&w.sample.Values[w.loader.image])
	if err != nil {
		return fmt.Errorf("decode %s: %w", w.sample.Key, err)
	}
	w.orientation = h.Orientation
	return nil
}

// keep puts sample i, which the worker has read, into the cache.
func (w *worker) keep(i int, start time.Duration) (time.Duration, error) {
	l := w.loader
	stage := stageRead
	w.sample.Resize(len(w.sample.Values)) // they may be the dataset's
	if v := &w.sample.Values[l.image]; l.config.Cache.Kind == Decoded && !w.lends(v) {
		stage = stageDecode
		o := w.options()
		w.decoder.Reservation = &w.room
		if err := w.decoder.Decode(&w.pixels, v, o); err != nil {
			w.free()
			return start, fmt.Errorf("decode %s: %w", w.sample.Key, err)
		}
		if how := w.decoder.Narrowed(); how != "" {
			l.narrowed.note(w.sample.Key, how)
		}
		if err := w.intact(); err != nil {
			return start, fmt.Errorf("decode %s: %w", w.sample.Key, err)
		}
		if w.room.Held() { // so large an image is decoded each time
			w.free()
			return w.lap(stage, start), nil
		}
		m := &w.pixels
		v.Data, v.Encoding, v.DType = m.Pix, formats.Raw, m.DType
		v.SetShape(m.H, m.W, m.C)
	}
	b, ok, err := l.cache.Put(i, l.record.size(&w.sample), func(dst []byte) error {
		l.record.put(dst, &w.sample, w.orientation)
		// What is kept must be the dataset's, and no zeros in its place.
		return w.intact()
	})
	if err != nil {
		return start, fmt.Errorf("cache %s: %w", w.sample.Key, err)
	}
	if ok {
		w.cached = b
		l.record.view(b, &w.sample)
	}
	return w.lap(stage, start), nil
}

// record is the layout of a sample in the cache: the EXIF orientation that was applied to its
// pixels, its key, then the values that batches need. Each value is a header and its bytes, both
// aligned to 8. Only processes of the same build share a cache (see cacheName), so this may change.
type record struct {
	fields int   // of the schema
	wanted []int // indices in the schema
}

const (
	recordAlign = 8
	valueHead   = 16 // encoding, type, dimensions, 5 bytes unused, length
)

var (
	recordEncodings = []formats.Encoding{
		"", formats.JPEG, formats.PNG, formats.BMP, formats.GIF, formats.TIFF, formats.WebP,
		formats.Raw, formats.RawZstd, formats.Plain,
	}
	recordTypes = []formats.DType{"", formats.Uint8, formats.Uint16, formats.Int64, formats.Float32}
)

func padded(n int) int { return (n + recordAlign - 1) &^ (recordAlign - 1) }

// size is the length of s's record.
func (r *record) size(s *formats.Sample) int {
	n := 16 + padded(len(s.Key))
	for _, k := range r.wanted {
		v := &s.Values[k]
		n += valueHead + 8*len(v.Shape) + padded(len(v.Data))
	}
	return n
}

// put writes s's record.
func (r *record) put(dst []byte, s *formats.Sample, orientation int) {
	binary.NativeEndian.PutUint64(dst, uint64(orientation))
	binary.NativeEndian.PutUint64(dst[8:], uint64(len(s.Key)))
	dst = dst[16:]
	copy(dst, s.Key)
	dst = dst[padded(len(s.Key)):]
	for _, k := range r.wanted {
		v := &s.Values[k]
		dst[0] = byte(slices.Index(recordEncodings, v.Encoding))
		dst[1] = byte(slices.Index(recordTypes, v.DType))
		dst[2] = byte(len(v.Shape))
		binary.NativeEndian.PutUint64(dst[8:], uint64(len(v.Data)))
		dst = dst[valueHead:]
		for _, n := range v.Shape {
			binary.NativeEndian.PutUint64(dst, uint64(n))
			dst = dst[8:]
		}
		copy(dst, v.Data)
		dst = dst[padded(len(v.Data)):]
	}
}

// view sets s to the sample of a record, in the record's memory, and returns its orientation. Values
// that no batch needs are empty.
func (r *record) view(b []byte, s *formats.Sample) (orientation int) {
	orientation = int(binary.NativeEndian.Uint64(b))
	n := int(binary.NativeEndian.Uint64(b[8:]))
	b = b[16:]
	s.Key = unsafe.String(unsafe.SliceData(b), n)
	b = b[padded(n):]
	s.Resize(r.fields)
	for _, k := range r.wanted {
		v := &s.Values[k]
		v.Encoding, v.DType = recordEncodings[b[0]], recordTypes[b[1]]
		dims, n := int(b[2]), int(binary.NativeEndian.Uint64(b[8:]))
		b = b[valueHead:]
		v.SetShape()
		for range dims {
			v.Shape = append(v.Shape, int(binary.NativeEndian.Uint64(b)))
			b = b[8:]
		}
		v.SetShape(v.Shape...)
		v.Data = b[:n:n]
		b = b[padded(n):]
	}
	return orientation
}
