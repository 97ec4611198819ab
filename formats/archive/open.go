package archive

import (
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

// FS is the files of an archive. It is safe for concurrent use, and must be closed.
type FS struct {
	path   string // of the file
	root   string // a folder in it
	file   *os.File
	was    filestate.State
	index  *index
	zip    *zipReader // nil for a tar
	stream stream     // nil for a zip
	closed atomic.Bool
	once   sync.Once
}

// Open opens the archive at path, and lists its members. A path that goes on after the name of the archive, such as
// "x.zip/images", is a folder in it, or in the folder around all others. The error names the archive: it is missing (fs.ErrNotExist), truncated, damaged, a
// bomb, or of a kind that is not read. ctx ends the listing.
func Open(ctx context.Context, path string) (*FS, error) {
	return openAt(ctx, "Open", path, splitNames)
}

// OpenMounted is Open of an archive that is put below a folder of another name, as folder.Mount does. Then the folder
// around all others is the root also if it is named as a split, since the name of the mount says which split it is.
func OpenMounted(ctx context.Context, path string) (*FS, error) {
	return openAt(ctx, "OpenMounted", path, nil)
}

// openAt opens an archive. Folders named as in kept are never the one around all others.
func openAt(ctx context.Context, function, path string, kept []string) (*FS, error) {
	if ctx == nil {
		return nil, fmt.Errorf("archive.%s: ctx is nil: give context.Background()", function)
	}
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	name, folder := SplitPath(path)
	if name == "" {
		name = path
	}
	file, err := unblocked.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, formats.NotFound(path)
	} else if err != nil {
		return nil, err
	}
	f := &FS{path: name, file: file, index: newIndex()}
	if err := f.open(ctx, folder, kept); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *FS) open(ctx context.Context, folder string, kept []string) (err error) {
	if st, err := f.file.Stat(); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not an archive but a folder, or no regular file", f.path)
	}
	if f.was, err = filestate.OfFile(f.file); err != nil {
		return err
	}
	if err := f.list(ctx); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if err := f.refuseDense(); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	return f.setRoot(folder, f.index.around(kept))
}

// list lists the members.
func (f *FS) list(ctx context.Context) error {
	k := sniff(f.file)
	if k == none {
		k = kindOf(f.path)
		if why := whyNone(f.file); why != "" && k != zipKind { // a program may come before a zip
			return errors.New(why)
		}
	}
	var in sequence
	var made func(length int64) stream
	var err error
	switch size := f.was.Size(); k {
	case zipKind:
		f.zip = &zipReader{file: f.file, index: f.index}
		err := scanZip(ctx, f.file, size, f.index)
		if why := whyNone(f.file); errors.Is(err, errNoZip) && why != "" {
			err = fmt.Errorf("it is not a zip: %s", why)
		}
		return err
	case gzipKind:
		in, made, err = scanGzip(ctx, f.file, size)
	case zstdKind:
		in, made, err = scanZstd(ctx, f.file, size)
	case bzip2Kind, xzKind:
		unpack := map[kind]string{bzip2Kind: "bunzip2", xzKind: "unxz"}[k]
		stem, named := suffixOf(f.path)
		if named == none || named == tarKind {
			stem = strings.TrimSuffix(f.path, filepath.Ext(f.path))
		}
		return fmt.Errorf("dsconv does not read tars compressed by bzip2 or xz: %s < %s > %s.tar makes a plain tar of it", unpack, f.path, stem)
	default:
		in = newPlainSequence(ctx, f.file, size)
	}
	if err != nil {
		return err
	}
	if err := scanTar(in, f.index); err != nil {
		return errors.Join(err, ctx.Err())
	}
	if made == nil {
		f.stream = plainStream{f.file}
		return nil
	}
	// The rest, which is zeros as a rule, has the checksum.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	f.stream = made(in.position())
	return nil
}

const (
	freeSize   = 64 << 20
	maxDensity = 32 // times its compressed size that a member may have, above freeSize
)

// refuseDense refuses members that are far larger than what they are compressed to, and an archive whose members and
// links are together.
func (f *FS) refuseDense() error {
	total := int64(0)
	for i := range f.index.entries {
		e := &f.index.entries[i]
		if e.refusal == 0 && e.size > freeSize && e.size/maxDensity > e.packed {
			e.refusal = f.index.cause(fmt.Sprintf("%d bytes, compressed to %d: no image is, so it is not unpacked", e.size, e.packed))
		}
		if e.refusal == 0 {
			total += min(e.size, math.MaxInt64-total)
		}
	}
	f.index.causeIDs = nil // all causes are known
	if isBomb(total, f.was.Size()) {
		return errBomb
	}
	return nil
}

// setRoot sets the folder in the archive that is the root. around is the folder around all others.
func (f *FS) setRoot(folder, around string) error {
	switch folder {
	case "":
		f.root = around
		return nil
	case ".":
		return nil
	}
	clean, why := cleanName(folder)
	for _, root := range []string{clean, join(around, clean)} {
		if why == "" && f.index.isFolder(root) {
			f.root = root
			return nil
		}
	}
	return fmt.Errorf("%s has no folder %q: %w", f.path, folder, fs.ErrNotExist)
}

// unchanged returns an error if the archive was written to since it was opened, formats.ErrChanged in its chain.
func (f *FS) unchanged() error {
	if f.closed.Load() {
		return fs.ErrClosed
	}
	return f.was.CheckFile(f.file)
}

// Close frees what the FS holds. Nothing may read it meanwhile or afterwards. A second Close does nothing.
func (f *FS) Close() (err error) {
	f.once.Do(func() {
		f.closed.Store(true)
		if f.stream != nil {
			f.stream.close()
		}
		err = f.file.Close()
	})
	return err
}
