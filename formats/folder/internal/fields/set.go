// Package fields gives samples what they have besides an image and labels: files that belong to the image by their names,
// and objects and captions from the files of COCO, YOLO and Pascal VOC.
package fields

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/wire"
)

// Set gives samples fields besides the image and the labels: from files beside the images, and from annotations.
type Set struct {
	in     vfs.FS
	memory int64
	places
	specs       []*spec // of files; those of boxes are the last
	index       *index
	annotations []annotation
	warnings    sync.Map // by the path of the image
	voters      []vfs.File
	drawings    []drawing // of specs, then of annotations
}

// New returns the fields of the options, nil if they have none.
func New(in vfs.FS, o *Options) (*Set, error) {
	if !o.Any() {
		return nil, nil
	}
	s := &Set{in: in, memory: o.Memory}
	var err error
	if s.image, s.specs, err = parseSpecs(o.Fields); err != nil {
		return nil, err
	}
	if err := s.addAnnotations(o); err != nil {
		return nil, err
	}
	s.dirs = map[string]bool{}
	s.index = &index{sorter: extsort.New("", s.memory/8)}
	return s, nil
}

// addAnnotations adds what the options name.
func (s *Set) addAnnotations(o *Options) error {
	var coco []string
	boxes := 0
	for _, value := range slices.Concat(o.Boxes, o.Captions) {
		if folder, file := recipepath.ForFolder(value); folder != "" && (file == "" || !filepath.IsLocal(folder) || path.Clean(folder) != folder) {
			return fmt.Errorf("annotations %s: give FILE, or FOLDER=FILE for the images in one folder of the source, such as train=FILE", value)
		}
	}
	for _, name := range o.Boxes {
		if !strings.Contains(name, "{") {
			coco = append(coco, name)
			continue
		}
		b, err := newBoxFiles(s, name)
		if err != nil {
			return err
		}
		boxes++
		b.field = len(s.specs)
		s.specs = append(s.specs, b.spec)
		s.annotations = append(s.annotations, b)
	}
	if len(coco) > 0 {
		boxes++
		s.annotations = append(s.annotations, &cocoBoxes{cocoImages: cocoImages{flag: "--boxes", names: coco}})
	}
	if boxes > 1 {
		return errors.New("--boxes: give files of COCO, or one pattern of YOLO's or Pascal VOC's files, not both")
	}
	if len(o.Captions) > 0 {
		s.annotations = append(s.annotations, &cocoCaptions{cocoImages: cocoImages{flag: "--captions", names: o.Captions}})
	}
	return nil
}

// files are the fields that are files themselves.
func (s *Set) files() []*spec {
	if n := len(s.specs); n > 0 && s.specs[n-1].boxes != nil {
		return s.specs[:n-1]
	}
	return s.specs
}

// FieldOf returns which field the file at a path belongs to, -1 if none.
func (s *Set) FieldOf(rel string) int {
	for i, f := range s.specs {
		if f.pattern.matches(rel) {
			return i
		}
	}
	return -1
}

// Finish is called when all files are listed.
func (s *Set) Finish(ctx context.Context) error {
	if err := s.index.finish(s.memory); err != nil {
		return err
	}
	n := len(s.specs)
	s.drawings = make([]drawing, n+len(s.annotations))
	for i, f := range s.specs {
		if err := s.findKey(i, f); err != nil {
			return err
		}
	}
	for _, a := range s.annotations {
		if err := a.Open(ctx, s.in); err != nil {
			return err
		}
	}
	for i, f := range s.specs {
		if f.kind != formats.Array {
			continue
		}
		if err := s.describeArray(i, f); err != nil {
			return err
		}
	}
	return nil
}

// findKey finds out whether a field's files have the folder of the images in their {key}: images/1.txt of {key}.txt.
func (s *Set) findKey(i int, f *spec) error {
	if !s.implicit || !f.pattern.has(keyPart) {
		return nil
	}
	one, ok, err := s.index.first(i)
	if ok {
		v, _ := f.pattern.find(one.Path)
		f.wholeKey = s.image.re.MatchString(v[keyPart] + ".x")
	}
	return err
}

// describeArray sets the type and the number of dimensions of an array field by its first file.
func (s *Set) describeArray(i int, f *spec) error {
	one, ok, err := s.index.first(i)
	if !ok {
		return err
	}
	data, err := one.Read(s.in, nil)
	if err != nil {
		return err
	}
	t, shape, _, err := npy.ParseHeader(data)
	if err != nil {
		return fmt.Errorf("%s: %w", one.Path, err)
	}
	f.dtype, f.shape = t, slices.Repeat([]int{-1}, len(shape))
	return nil
}

// Schema returns the fields.
func (s *Set) Schema() formats.Schema {
	var list formats.Schema
	for _, f := range s.files() {
		list = append(list, f.field())
	}
	for _, a := range s.annotations {
		list = append(list, a.Schema()...)
	}
	return list
}

// Close frees the memory of the files. The Set may be nil.
func (s *Set) Close() error {
	if s == nil {
		return nil
	}
	return s.index.close()
}

// index has the files of the fields, by field and path. Like records they are in memory or in a mapped file.
// Files are added while the folder is listed, then finish is called, then it can be searched concurrently.
type index struct {
	mu      sync.Mutex
	sorter  *extsort.Sorter
	value   []byte
	files   *extsort.List
	claimed []uint64 // bits: files that belong to a sample
}

// errNoFile is the error about a sample without a file for a field.
var errNoFile = errors.New("there is no file")

// add adds a file of a field. It is safe for concurrent use.
func (x *index) add(field int, f vfs.File) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.value = wire.AppendBytes(x.value[:0], f.Path)
	x.value = binary.AppendUvarint(x.value, uint64(f.Size))
	x.value = binary.AppendUvarint(x.value, uint64(f.ModTime))
	return x.sorter.Add(indexKey(field, vfs.Composed(foldExtension(f.Path))), x.value)
}

// indexKey is the key of a field's file, or of all whose paths begin so.
func indexKey(field int, rel string) []byte {
	return append([]byte{byte(field >> 8), byte(field)}, rel...)
}

// finish ends adding.
func (x *index) finish(memory int64) (err error) {
	x.files, err = extsort.NewList(x.sorter, min(memory/8, 8<<20))
	if err == nil {
		x.claimed = make([]uint64, x.files.Len()/64+1)
	}
	return errors.Join(err, x.sorter.Close())
}

func (x *index) close() error {
	err := x.sorter.Close()
	if x.files != nil {
		err = errors.Join(err, x.files.Close())
	}
	return err
}

// find returns the file of a field whose path is the segments with a wildcard between each two, and its number.
func (x *index) find(field int, segments []string) (f vfs.File, number int, err error) {
	number = -1
	last := len(segments) - 1
	segments[last] = foldExtension(segments[last])
	composed := make([]string, len(segments))
	for i, s := range segments {
		composed[i] = vfs.Composed(s)
	}
	var several error
	same := false // whether f's name is composed like the segments
	prefix := indexKey(field, composed[0])
	err = x.from(prefix, func(i int, key []byte, candidate vfs.File) (more bool, err error) {
		if !strings.HasPrefix(string(key), string(prefix)) {
			return false, nil
		}
		if !matchSegments(string(key[2:]), composed) {
			return last > 0, nil // without a wildcard, the file would be the first
		}
		isSame := matchSegments(foldExtension(candidate.Path), segments)
		switch {
		case number < 0 || isSame && !same:
			f, number, same, several = candidate, i, isSame, nil
		case isSame == same:
			several = fmt.Errorf("two files may be it: %s and %s", f.Path, candidate.Path)
		}
		return true, nil
	})
	if err == nil {
		err = several
	}
	if err == nil && number < 0 {
		err = fmt.Errorf("%w %s", errNoFile, strings.Join(segments, "*"))
	}
	return f, number, err
}

// from calls yield for the files from a key on, until it returns false or an error.
func (x *index) from(key []byte, yield func(i int, key []byte, f vfs.File) (bool, error)) error {
	return x.files.From(key, func(i int, key, record []byte) (bool, error) {
		value := wire.Cursor{B: record}
		f := vfs.File{Path: string(value.Bytes())}
		f.Size, f.ModTime = value.Varint(), value.Varint()
		if value.Failed {
			return false, extsort.ErrDamagedList
		}
		return yield(i, key, f)
	})
}

// first returns the first file of a field; ok is false if there is none.
func (x *index) first(field int) (f vfs.File, ok bool, err error) {
	prefix := indexKey(field, "")
	err = x.from(prefix, func(_ int, key []byte, one vfs.File) (bool, error) {
		f, ok = one, string(key[:2]) == string(prefix)
		return false, nil
	})
	return f, ok, err
}

// each calls yield for each file of a field.
func (x *index) each(field int, yield func(f vfs.File, claimed bool) error) error {
	prefix := indexKey(field, "")
	return x.from(prefix, func(i int, key []byte, f vfs.File) (bool, error) {
		if string(key[:2]) != string(prefix) {
			return false, nil
		}
		return true, yield(f, x.claimed[i/64]>>(i%64)&1 == 1)
	})
}
