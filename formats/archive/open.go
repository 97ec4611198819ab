package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// kind is a kind of archive.
type kind int

const (
	none kind = iota
	zipKind
	tarKind
	gzipKind
	zstdKind
	bzip2Kind
	xzKind
)

// suffixes are the names of archives, in lower case.
var suffixes = []struct {
	name string
	kind kind
}{
	{".zip", zipKind},
	{".tar", tarKind},
	{".tar.gz", gzipKind},
	{".tgz", gzipKind},
	{".tar.zst", zstdKind},
	{".tar.zstd", zstdKind},
	{".tzst", zstdKind},
	{".tar.bz2", bzip2Kind},
	{".tbz2", bzip2Kind},
	{".tbz", bzip2Kind},
	{".tar.xz", xzKind},
	{".txz", xzKind},
}

// suffixOf returns the longest of the suffixes that a name ends in, with the name before it; none if there is none.
func suffixOf(name string) (stem string, k kind) {
	stem = name
	for i := range suffixes {
		if at := len(name) - len(suffixes[i].name); at >= 0 && at < len(stem) && strings.EqualFold(name[at:], suffixes[i].name) {
			stem, k = name[:at], suffixes[i].kind
		}
	}
	return stem, k
}

func kindOf(name string) kind {
	_, k := suffixOf(name)
	return k
}

// isArchiveName reports whether a member has the name of an archive that is not a plain tar.
func isArchiveName(name string) bool {
	k := kindOf(name)
	return k != none && k != tarKind
}

// SplitPath splits a path into that of an archive and the folder in it: "x.zip/images" into "x.zip" and "images". The
// folder is "." if the path is "x.zip/", and "" if it is "x.zip". file is "" if there is no archive: a file whose name ends
// in .zip, .tar, .tar.gz, .tgz, .tar.zst or the like. Open says what is wrong with one that is damaged.
func SplitPath(path string) (file, folder string) {
	for file = strings.TrimRight(path, "/"); file != ""; {
		if kindOf(file) != none {
			if st, err := os.Stat(file); err == nil && !st.IsDir() {
				if folder = strings.Trim(path[len(file):], "/"); folder == "" && len(path) > len(file) {
					folder = "."
				}
				return file, folder
			}
		}
		up := strings.LastIndexByte(file, '/')
		if up < 0 {
			break
		}
		file = strings.TrimRight(file[:up], "/")
	}
	return "", ""
}

// FS is the files of an archive, or of several as one. It is safe for concurrent use, and must be closed.
type FS struct {
	path   string // of the file, or of the folder of several
	root   string // a folder in it
	parts  []*part
	index  *index
	closed atomic.Bool
	once   sync.Once
}

// part is an archive whose members an FS has.
type part struct {
	path         string
	file         *os.File
	was          filestate.State
	isZip        bool
	unpacked     *os.File // what a compressed tar is unpacked to; nil for others
	folder, root string   // the folder of the FS that it is, and the folder in the archive that this is
	notice       string
}

// Open opens the archive at path, and lists its members. A path that goes on after the name of the archive, such as
// "x.zip/images", is a folder in it, or in the folder around all others. The error names the archive: it is missing (fs.ErrNotExist), truncated, damaged, a
// bomb, or of a kind that is not read. ctx ends the listing.
func Open(ctx context.Context, path string) (*FS, error) {
	return openAt(ctx, path, splitNames)
}

// OpenMounted is Open of an archive that is put below a folder of another name, as folder.Mount does. Then the folder
// around all others is the root also if it is named as a split, since the name of the mount says which split it is.
func OpenMounted(ctx context.Context, path string) (*FS, error) {
	return openAt(ctx, path, nil)
}

// openAt opens an archive. Folders named as in kept are never the one around all others.
func openAt(ctx context.Context, path string, kept []string) (*FS, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	name, folder := SplitPath(path)
	if name == "" {
		name = path
	}
	f := &FS{path: name}
	x, err := f.add(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = formats.NotFound(path)
	}
	if err == nil {
		f.index = x
		err = f.setRoot(folder, x.around(kept))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// add opens the archive at a path as one more part, and lists its members.
func (f *FS) add(ctx context.Context, path string) (*index, error) {
	file, err := unblocked.Open(path)
	if err != nil {
		return nil, err
	}
	p := &part{path: path, file: file}
	f.parts = append(f.parts, p)
	if st, err := file.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not an archive but a folder, or no regular file", path)
	}
	if p.was, err = filestate.OfFile(file); err != nil {
		return nil, err
	}
	x := newIndex()
	err = p.list(ctx, x)
	if err == nil {
		err = refuseDense(x, p.was.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if x.decodedNames > 0 {
		p.notice = fmt.Sprintf("%s: %d name(s) are not UTF-8 and were read as code page 437, such as %q: if that is wrong, unpack it with its own code page (unzip -O CP932, for instance), and pack the folder",
			path, x.decodedNames, x.decodedName)
	}
	return x, p.was.CheckFile(file)
}

// list lists the members.
func (p *part) list(ctx context.Context, x *index) error {
	k := sniff(p.file)
	if k == none {
		k = kindOf(p.path)
		if why := whyNone(p.file); why != "" && k != zipKind { // a program may come before a zip
			return errors.New(why)
		}
	}
	plain := io.NewSectionReader(p.file, 0, p.was.Size())
	in := &sequence{ctx: ctx, plain: plain, in: bufio.NewReaderSize(plain, 4096)} // in small pieces: between headers it skips the data
	switch k {
	case zipKind:
		p.isZip = true
		err := scanZip(ctx, p.file, p.was.Size(), x)
		if why := whyNone(p.file); errors.Is(err, errNoZip) && why != "" {
			err = fmt.Errorf("it is not a zip: %s", why)
		}
		return err
	case gzipKind, zstdKind:
		var err error
		if in, p.unpacked, err = newUnpacking(ctx, p.file, k); err != nil {
			return err
		}
	case bzip2Kind, xzKind:
		unpack := map[kind]string{bzip2Kind: "bunzip2", xzKind: "unxz"}[k]
		stem, named := suffixOf(p.path)
		if named == none || named == tarKind {
			stem = strings.TrimSuffix(p.path, filepath.Ext(p.path))
		}
		return fmt.Errorf("dsconv does not read tars compressed by bzip2 or xz: %s < %s > %s.tar makes a plain tar of it", unpack, p.path, stem)
	}
	if err := scanTar(in, x); err != nil {
		return errors.Join(err, ctx.Err())
	}
	if p.unpacked == nil {
		return nil
	}
	// The rest, which is zeros as a rule, has the checksum.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	return in.to.Flush()
}

const (
	freeSize   = 64 << 20
	maxDensity = 32 // times its compressed size that a member may have, above freeSize
)

// refuseDense refuses members that are far larger than what they are compressed to, and an archive of size bytes whose
// members and links are together.
func refuseDense(x *index, size int64) error {
	total := int64(0)
	for i := range x.entries {
		e := &x.entries[i]
		if e.refusal == "" && e.size > freeSize && e.size/maxDensity > e.packed {
			e.refusal = fmt.Sprintf("%d bytes, compressed to %d: no image is, so it is not unpacked", e.size, e.packed)
		}
		if e.refusal == "" {
			total += min(e.size, math.MaxInt64-total)
		}
	}
	if isBomb(total, size) {
		return errBomb
	}
	return nil
}

// setRoot sets the folder in the archive that is the root. around is the folder around all others.
func (f *FS) setRoot(folder, around string) error {
	if folder == "" {
		f.root = around
	}
	if folder == "" || folder == "." {
		return nil
	}
	clean, why := cleanName(folder)
	for _, root := range []string{clean, join(around, clean)} {
		if why == "" && f.index.known[root] {
			f.root = root
			return nil
		}
	}
	return fmt.Errorf("%s has no folder %q: %w", f.path, folder, fs.ErrNotExist)
}

// read fills b with the member e. The error is formats.ErrChanged if the archive was written to since it was opened.
func (p *part) read(e *entry, b []byte) (err error) {
	switch {
	case p.isZip:
		err = readZip(p.file, e, join(p.root, strings.TrimPrefix(e.path[len(p.folder):], "/")), b)
	case p.unpacked != nil:
		err = readAt(p.unpacked, b, e.offset)
	default:
		err = readAt(p.file, b, e.offset)
	}
	if changed := p.was.CheckFile(p.file); changed != nil {
		return changed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	return nil
}

// Close frees what the FS holds. Nothing may read it meanwhile or afterwards. A second Close does nothing.
func (f *FS) Close() (err error) {
	f.once.Do(func() {
		f.closed.Store(true)
		for _, p := range f.parts {
			err = errors.Join(err, p.file.Close())
			if p.unpacked != nil {
				err = errors.Join(err, p.unpacked.Close())
			}
		}
	})
	return err
}
