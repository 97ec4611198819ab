package numpy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// maxUnpacked is how much a dataset's compressed arrays may have, decompressed.
const maxUnpacked = 1 << 30

// member is one array: its header and its bytes, in mapped memory or decompressed.
type member struct {
	npy.Header
	file *arrays.File
	data []byte // the elements
}

// container has arrays with names.
type container interface {
	names() []string
	// open returns an array. Its file, if it is new, is added to set.
	open(name string, set *arrays.Set) (*member, error)
}

// folder is a container of .npy files.
type folder struct {
	dir   string
	files []string // names without .npy
}

func openFolder(dir string) (*folder, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{dir: dir}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".npy"); ok && !e.IsDir() {
			f.files = append(f.files, name)
		}
	}
	return f, nil
}

func (f *folder) names() []string { return f.files }

func (f *folder) open(name string, set *arrays.Set) (*member, error) {
	return openFile(filepath.Join(f.dir, name+".npy"), set)
}

// openFile maps an .npy file and adds it to set.
func openFile(path string, set *arrays.Set) (*member, error) {
	file, err := arrays.Map(path)
	if err != nil {
		return nil, err
	}
	set.Files = append(set.Files, file)
	m := &member{file: file}
	err = file.Guarded(func() error { return m.parse(file.Data) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// parse reads the header at the front of b, which is the whole array.
func (m *member) parse(b []byte) (err error) {
	if m.Header, err = npy.ReadHeader(b); err != nil {
		return err
	}
	m.data = b[m.Offset:]
	n, err := m.number()
	if err != nil {
		return err
	}
	want, ok := n.Size, true
	for _, d := range m.Shape {
		if d > 0 && want > len(b)/d {
			ok = false
			break
		}
		want *= d
	}
	if !ok || want != len(m.data) {
		return fmt.Errorf("%w: an array of shape %v and type %s does not have %d bytes: it is truncated or damaged", formats.ErrDamaged, m.Shape, m.Descr, len(m.data))
	}
	return nil
}

// number returns the element type.
func (m *member) number() (n arrays.Number, err error) {
	d := m.Descr
	if len(d) == 3 && strings.ContainsRune("<>|=", rune(d[0])) && strings.ContainsRune("buif", rune(d[1])) && strings.ContainsRune("1248", rune(d[2])) {
		return arrays.Number{Kind: d[1], Size: int(d[2] - '0'), Big: d[0] == '>'}, nil
	}
	if strings.Contains(d, "O") {
		return n, fmt.Errorf("%w: it is an array of Python's objects (pickled), which are never read; save numbers", formats.ErrSchema)
	}
	return n, fmt.Errorf("%w: elements of type %q are not supported", formats.ErrSchema, d)
}

// labelFile returns the file of labels beside an .npy file of images, "" if there is none.
func labelFile(path string) string {
	dir, base := filepath.Split(path)
	stem := strings.TrimSuffix(base, ".npy")
	candidates := []string{stem + "_labels", stem + "-labels", stem + ".labels"}
	split, rest := formats.CutSplit(stem)
	if at := slices.Index(words[imageField], rest); at >= 0 {
		for _, label := range words[labelField] {
			candidates = append(candidates, strings.Trim(split+"_"+label, "_"), strings.Trim(label+"_"+split, "_"))
		}
	}
	for _, name := range append(candidates, "labels") {
		file := dir + name + ".npy"
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() && file != path {
			return file
		}
	}
	return ""
}

// header reads the header of the file at path.
func header(path string) (h npy.Header, err error) {
	f, err := unblocked.Open(path)
	if err != nil {
		return h, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return h, errors.Join(err, fmt.Errorf("%s: not a file", path))
	}
	b := make([]byte, npy.MaxHeader)
	n, _ := f.ReadAt(b, 0)
	return npy.ReadHeader(b[:n])
}
