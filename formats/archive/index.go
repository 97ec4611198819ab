package archive

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// maxIndex bounds what the list of members takes in memory. A member takes 80 bytes and its name, so this is enough
// for ten million.
const maxIndex = 1 << 30

// entry is a member of the archive.
type entry struct {
	name    span // the last element of its path, in index.names
	folder  int32
	refusal int32 // index in index.causes, 0 if it can be read
	order   int32 // position in the archive
	part    int32 // of the FS
	method  uint16
	crc     uint32
	rawName uint32 // of a member of a zip: the checksum of its name as the directory has it
	offset  int64  // of the data; in a zip of the local header
	size    int64
	packed  int64 // compressed size; in a tar what it took of the compressed file
	limit   int64 // where the next member of a zip begins
}

type span struct {
	start uint32
	size  uint16
}

// dir is a folder of the archive.
type dir struct {
	path        string
	parent      int32
	first, last int32   // range in index.entries
	folders     []int32 // by name
}

// index lists the members by folder and name. Names share one block of memory.
type index struct {
	entries  []entry
	names    []byte
	dirs     []dir
	byPath   map[string]int32
	lastPath string // the folder of the member added last
	lastDir  int32
	causes   []string // causes[0] is ""
	causeIDs map[string]int32
	refused  []formats.Skip // members that the tree does not have
	size     int64          // bytes in memory

	decodedNames int    // how many names were not UTF-8
	decodedName  string // the first of them
}

func newIndex() *index {
	return &index{dirs: []dir{{}}, byPath: map[string]int32{"": 0}, causes: []string{""}, causeIDs: map[string]int32{"": 0}}
}

var errTooMany = errors.New("it has more members than dsconv can list in 1 GiB of memory")

// grow counts n bytes of memory.
func (x *index) grow(n int) error {
	if x.size += int64(n); x.size > maxIndex {
		return errTooMany
	}
	return nil
}

// refuse records a member that cannot be in the tree.
func (x *index) refuse(name, cause string) error {
	x.refused = append(x.refused, formats.Skip{Path: shorten(name), Cause: cause})
	return x.grow(64 + min(len(name), maxName))
}

// cause returns the number of a cause.
func (x *index) cause(why string) int32 {
	id, ok := x.causeIDs[why]
	if !ok {
		id = int32(len(x.causes))
		x.causes = append(x.causes, why)
		x.causeIDs[why] = id
		x.size += int64(2*len(why) + 64)
	}
	return id
}

// add adds a member at a clean path; why is the reason if it cannot be read.
func (x *index) add(path string, e entry, why string) error {
	folder, name := splitPath(path)
	parent, err := x.mkdir(folder)
	if err != nil {
		return err
	}
	e.folder, e.order, e.refusal = parent, int32(len(x.entries)), x.cause(why)
	e.name = span{uint32(len(x.names)), uint16(len(name))}
	x.names = append(x.names, name...)
	x.entries = append(x.entries, e)
	return x.grow(80 + len(name))
}

// mkdir returns the folder at a clean path, and makes it and those above it.
func (x *index) mkdir(path string) (int32, error) {
	if path == x.lastPath {
		return x.lastDir, nil
	}
	id, ok := x.byPath[path]
	if !ok {
		above, _ := splitPath(path)
		parent, err := x.mkdir(above)
		if err != nil {
			return 0, err
		}
		id = int32(len(x.dirs))
		x.dirs = append(x.dirs, dir{path: path, parent: parent})
		x.byPath[path] = id
		if err := x.grow(len(path) + 150); err != nil {
			return 0, err
		}
	}
	x.lastPath, x.lastDir = path, id
	return id, nil
}

func splitPath(path string) (folder, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

func (x *index) nameOf(e *entry) string {
	return string(x.names[e.name.start:][:e.name.size])
}

func (x *index) pathOf(e *entry) string {
	return join(x.dirs[e.folder].path, x.nameOf(e))
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}

// sort sorts the members by folder, name and position in the archive.
func (x *index) sort() {
	slices.SortFunc(x.entries, func(a, b entry) int {
		if a.folder != b.folder {
			return cmp.Compare(a.folder, b.folder)
		}
		return cmp.Or(x.compare(&a, &b), cmp.Compare(a.order, b.order))
	})
}

// finish makes the tree of the members, which are sorted. Of several with one name the last one counts; the others are
// refused, unless they are the same bytes, as a hard link of a tar to its own name.
func (x *index) finish() error {
	kept := x.entries[:0]
	for i := range x.entries {
		e := &x.entries[i]
		var why string
		switch {
		case i+1 < len(x.entries) && x.entries[i+1].folder == e.folder && x.compare(e, &x.entries[i+1]) == 0:
			if x.entries[i+1].isSame(e) {
				continue
			}
			why = "the archive has this name again: the last one counts"
		case x.isFolder(x.pathOf(e)):
			why = "the archive also has a folder of this name, which counts"
		default:
			kept = append(kept, *e)
			continue
		}
		if err := x.refuse(x.pathOf(e), why); err != nil {
			return err
		}
	}
	x.entries = slices.Clip(kept)
	x.listFolders()
	return nil
}

// isSame reports whether both are the same bytes of the archive.
func (e *entry) isSame(o *entry) bool {
	return e.method == o.method && e.offset == o.offset && e.size == o.size && e.refusal == o.refusal
}

func (x *index) isFolder(path string) bool {
	_, ok := x.byPath[path]
	return ok
}

func (x *index) compare(a, b *entry) int {
	return strings.Compare(x.nameOf(a), x.nameOf(b))
}

// listFolders sets what each folder has.
func (x *index) listFolders() {
	for i := range x.entries {
		d := &x.dirs[x.entries[i].folder]
		if d.last == 0 {
			d.first = int32(i)
		}
		d.last = int32(i + 1)
	}
	for i := range x.dirs[1:] {
		up := &x.dirs[x.dirs[i+1].parent]
		up.folders = append(up.folders, int32(i+1))
	}
	for i := range x.dirs {
		slices.SortFunc(x.dirs[i].folders, func(a, b int32) int { return strings.Compare(x.dirs[a].path, x.dirs[b].path) })
	}
}

// find returns the member at a clean path, nil if there is none.
func (x *index) find(path string) *entry {
	folder, name := splitPath(path)
	id, ok := x.byPath[folder]
	if !ok {
		return nil
	}
	d := &x.dirs[id]
	files := x.entries[d.first:d.last]
	i, ok := slices.BinarySearchFunc(files, name, func(e entry, name string) int { return strings.Compare(x.nameOf(&e), name) })
	if !ok {
		return nil
	}
	return &files[i]
}

// splitNames are folders that are not taken as the only folder around a dataset, since their names would be lost.
var splitNames = formats.SplitFolders()

// around returns the folder that everything is in, if it has folders itself and its name is not one of kept: the root of
// most archives of a dataset.
func (x *index) around(kept []string) string {
	root := int32(0)
	for {
		d := &x.dirs[root]
		inner := x.foldersIn(d)
		if len(inner) != 1 || x.hasFiles(d) || len(x.dirs[inner[0]].folders) == 0 {
			return d.path
		}
		if _, name := splitPath(x.dirs[inner[0]].path); slices.Contains(kept, strings.ToLower(name)) {
			return d.path
		}
		root = inner[0]
	}
}

// foldersIn returns the folders in d that are not macOS's.
func (x *index) foldersIn(d *dir) (ids []int32) {
	for _, id := range d.folders {
		if _, name := splitPath(x.dirs[id].path); name != "__MACOSX" {
			ids = append(ids, id)
		}
	}
	return ids
}

// hasFiles reports whether d has files but hidden ones, such as .DS_Store.
func (x *index) hasFiles(d *dir) bool {
	return slices.ContainsFunc(x.entries[d.first:d.last], func(e entry) bool { return x.names[e.name.start] != '.' })
}
