package listing

import (
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/wire"
)

// Files sorts the files that were found by their stems, the paths without extensions. A record's value
// is a fileRecord or a questionRecord.
type Files struct {
	mu     sync.Mutex
	sorter *extsort.Sorter
	value  []byte
	asking bool // whether files may belong to images is to be found out
	Questions
}

const (
	// fileRecord: the extension, the size and the time of a file with this stem.
	fileRecord = iota
	// questionRecord: an extension. A file of another stem asks whether one with this extension exists.
	questionRecord
	// folderRecord: the path of a file in a folder of images, or of masks.
	folderRecord
)

// NewFiles sorts in about memory bytes. With asking, it finds out whether files may belong to images.
func NewFiles(memory int64, asking bool) *Files {
	return &Files{sorter: extsort.New("", memory), asking: asking}
}

// Close frees the memory of the files.
func (l *Files) Close() error { return l.sorter.Close() }

// add adds files of different paths. It is safe for concurrent use.
func (l *Files) add(files []vfs.File) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range files {
		f := &files[i]
		place := f.Place()
		key := vfs.ImageStem(place)
		l.value = wire.AppendBytes(append(l.value[:0], fileRecord), place[len(key):])
		l.value = binary.AppendUvarint(l.value, uint64(f.Size))
		l.value = binary.AppendUvarint(l.value, uint64(f.ModTime))
		if f.Virtual != "" {
			l.value = wire.AppendBytes(l.value, f.Path)
		}
		if err := l.sorter.Add([]byte(key), l.value); err != nil {
			return err
		}
		if err := l.ask(f.Path, true); err != nil {
			return err
		}
		if ext := path.Ext(key); vfs.IsImageExtension(ext) {
			l.value = append(append(l.value[:0], questionRecord), ext...)
			if err := l.sorter.Add([]byte(vfs.Stem(key)), l.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// Each calls yield for each file that included accepts, with its key. A key is the path without extension. It
// keeps the extension if two files share a stem, or if the stem is another file's whole path ("1.jpg.png"
// beside "1.jpg"), so that keys are unique.
func (l *Files) Each(included func(path string) bool, yield func(f vfs.File, key string) error) error {
	var last string
	var same []vfs.File    // files with the stem last
	var questions []string // about it
	var beside []string
	paths := map[string]bool{} // stems to come that are paths of files
	end := func() error {
		for _, ext := range questions {
			if slices.ContainsFunc(same, func(f vfs.File) bool { return f.Place()[len(last):] == ext }) {
				paths[last+ext] = true
			}
		}
		if l.asking {
			l.group(same, beside)
			beside = beside[:0]
		}
		unique := len(same) == 1 && !paths[last]
		delete(paths, last)
		for _, f := range same {
			key := f.Place()
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
		case folderRecord:
			beside = append(beside, string(value[1:]))
			return nil
		}
		c := wire.Cursor{B: value[1:]}
		f := vfs.File{Path: last + string(c.Bytes())}
		f.Size, f.ModTime = c.Varint(), c.Varint()
		if len(c.B) > 0 {
			f.Path, f.Virtual = string(c.Bytes()), f.Path
			if at := slices.IndexFunc(same, func(o vfs.File) bool { return o.Virtual == f.Virtual }); at >= 0 {
				return fmt.Errorf("%s and %s are images of one key, %s: use {dir} or {class} in the pattern of --field image", same[at].Path, f.Path, last)
			}
		}
		if included(f.Path) {
			same = append(same, f)
		}
		return nil
	})
	if err == nil {
		err = end()
	}
	return err
}
