package folder

import (
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/wire"
)

// foundFiles sorts the files that were found by their stems, the paths without extensions. A record's value
// is a fileRecord or a questionRecord.
type foundFiles struct {
	mu     sync.Mutex
	sorter *extsort.Sorter
	value  []byte
	asking bool // whether files may belong to images is to be found out
	questions
}

const (
	// fileRecord: the extension, the size and the time of a file with this stem.
	fileRecord = iota
	// questionRecord: an extension. A file of another stem asks whether one with this extension exists.
	questionRecord
	// suffixRecord: the path of an image that may belong to one with this stem.
	suffixRecord
	// folderRecord: the path of a file in a folder of images, or of masks.
	folderRecord
)

// newFoundFiles sorts in about memory bytes. With asking, it finds out whether files may belong to images.
func newFoundFiles(memory int64, asking bool) *foundFiles {
	return &foundFiles{sorter: extsort.New("", memory), asking: asking}
}

// close frees the memory of the files.
func (l *foundFiles) close() error { return l.sorter.Close() }

// add adds files of different paths. It is safe for concurrent use.
func (l *foundFiles) add(files []file) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range files {
		f := &files[i]
		place := f.path
		if f.virtual != "" {
			place = f.virtual
		}
		key := stem(place)
		l.value = wire.AppendBytes(append(l.value[:0], fileRecord), place[len(key):])
		l.value = binary.AppendUvarint(l.value, uint64(f.size))
		l.value = binary.AppendUvarint(l.value, uint64(f.modTime))
		if f.virtual != "" {
			l.value = wire.AppendBytes(l.value, f.path)
		}
		if err := l.sorter.Add([]byte(key), l.value); err != nil {
			return err
		}
		if err := l.ask(f.path, true); err != nil {
			return err
		}
		if ext := path.Ext(key); isImageExtension(ext) {
			l.value = append(append(l.value[:0], questionRecord), ext...)
			if err := l.sorter.Add([]byte(stem(key)), l.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// each calls yield for each file that included accepts, with its key. A key is the path without extension. It
// keeps the extension if two files share a stem, or if the stem is another file's whole path ("1.jpg.png"
// beside "1.jpg"), so that keys are unique.
func (l *foundFiles) each(included func(path string) bool, yield func(f file, key string) error) error {
	var last string
	var same []file        // files with the stem last
	var questions []string // about it
	var suffixes, beside []string
	paths := map[string]bool{} // stems to come that are paths of files
	end := func() error {
		for _, ext := range questions {
			if slices.ContainsFunc(same, func(f file) bool { return f.ext(last) == ext }) {
				paths[last+ext] = true
			}
		}
		if l.asking {
			l.group(same, suffixes, beside)
			suffixes, beside = suffixes[:0], beside[:0]
		}
		unique := len(same) == 1 && !paths[last]
		delete(paths, last)
		for _, f := range same {
			key := f.path
			if f.virtual != "" {
				key = f.virtual
			}
			if unique {
				key = last
			}
			if err := yield(f, key); err != nil {
				return err
			}
		}
		same, questions = same[:0], questions[:0]
		return nil
	}
	err := l.sorter.Each(func(key, value []byte) error {
		if string(key) != last {
			if err := end(); err != nil {
				return err
			}
			last = string(key)
		}
		switch value[0] {
		case questionRecord:
			questions = append(questions, string(value[1:]))
			return nil
		case suffixRecord:
			suffixes = append(suffixes, string(value[1:]))
			return nil
		case folderRecord:
			beside = append(beside, string(value[1:]))
			return nil
		}
		c := wire.Cursor{B: value[1:]}
		f := file{path: last + string(c.Bytes())}
		f.size, f.modTime = c.Varint(), c.Varint()
		if len(c.B) > 0 {
			f.path, f.virtual = string(c.Bytes()), f.path
			if at := slices.IndexFunc(same, func(o file) bool { return o.virtual == f.virtual }); at >= 0 {
				return fmt.Errorf("%s and %s are images of one key, %s: use {dir} or {class} in the pattern of --field image", same[at].path, f.path, last)
			}
		}
		if included(f.path) {
			same = append(same, f)
		}
		return nil
	})
	if err == nil {
		err = end()
	}
	return err
}

// ext is what follows the stem in the path that the key is made of.
func (f *file) ext(stem string) string {
	if f.virtual != "" {
		return f.virtual[len(stem):]
	}
	return f.path[len(stem):]
}
