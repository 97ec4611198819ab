package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/semaphore"

	"github.com/dsconv/dsconv/formats"
)

// file is an image file that was found.
type file struct {
	path    string // relative, '/'-separated
	size    int64
	modTime int64 // ns
}

// Skip is an input that is not part of the dataset, and the reason.
type Skip struct {
	Path  string `json:"path"`
	Cause string `json:"cause"`
}

// readExtensions are those of images that dsconv reads; unreadExtensions are those of images that
// it cannot read and reports as skipped.
var (
	readExtensions   = []string{".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
	unreadExtensions = []string{".ppm", ".pgm", ".pnm", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".tga", ".svg", ".dng", ".cr2", ".nef"}
)

// maxListings is the number of folders that are listed at once: listing waits for the disk or
// the network, not for a core.
const maxListings = 16

// maxFile bounds the size of an image file: no encoding of pixel.DefaultMaxPixels pixels
// needs more.
const maxFile = 2 << 30

// maxVisits bounds how often one folder is listed: with a few links, there can be very many
// paths to it.
const maxVisits = 100

// inode identifies a folder, whatever its path.
type inode struct{ device, number uint64 }

type scan struct {
	in       filesystem
	filter   *formats.FileFilter
	sem      *semaphore.Weighted
	wg       sync.WaitGroup
	mu       sync.Mutex
	visits   map[inode]int // of folders
	files    []file
	skips    []Skip
	dangling []string // links to nothing, which may have been links to folders
	ignored  int      // files whose names are not those of images
	err      error
}

// walk lists all files below root, following links, in no particular order.
func (s *scan) walk(ctx context.Context) error {
	st, err := s.in.stat("")
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the path
		}
		return fmt.Errorf("open the folder %s: %w", s.in, err)
	}
	if !st.IsDir() {
		return fmt.Errorf("%s is not a folder", s.in)
	}
	s.sem = semaphore.NewWeighted(maxListings)
	s.wg.Add(1)
	s.dir(ctx, "", []fs.FileInfo{st})
	s.wg.Wait()
	if s.err == nil {
		s.err = ctx.Err()
	}
	return s.err
}

// dir lists one folder; chain is the folders above it and itself, to detect a loop.
func (s *scan) dir(ctx context.Context, rel string, chain []fs.FileInfo) {
	defer s.wg.Done()
	if s.sem.Acquire(ctx, 1) != nil {
		return
	}
	defer s.sem.Release(1)
	entries, err := s.in.readDir(rel)
	if err != nil {
		if rel == "" {
			s.fail(err)
		} else {
			s.skip(rel, cause(err))
		}
		return
	}
	for _, e := range entries {
		s.entry(ctx, path.Join(rel, e.Name()), e, chain)
	}
}

func (s *scan) entry(ctx context.Context, rel string, e fs.DirEntry, chain []fs.FileInfo) {
	if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 && !s.isWanted(rel) {
		return
	}
	st, err := s.in.stat(rel) // follows links
	if err != nil {
		s.unread(rel, e, err)
		return
	}
	if st.IsDir() {
		if !s.filter.IncludesFolder(rel) {
			return
		}
		if slices.ContainsFunc(chain, func(up fs.FileInfo) bool { return os.SameFile(up, st) }) {
			s.skip(rel, "a link to a folder above it (a loop)")
			return
		}
		if e.Type()&fs.ModeSymlink != 0 && !s.in.follows(st) {
			s.skip(rel, "a link to a folder, in a file system that cannot tell whether that is a loop")
			return
		}
		if !s.visit(st) {
			s.skip(rel, "too many links lead to this folder")
			return
		}
		s.wg.Add(1)
		go s.dir(ctx, rel, append(slices.Clone(chain), st))
		return
	}
	if e.Type()&fs.ModeSymlink != 0 && !s.isWanted(rel) {
		return
	}
	if !st.Mode().IsRegular() {
		s.skip(rel, "not a regular file")
		return
	}
	if st.Size() > maxFile {
		s.skip(rel, fmt.Sprintf("a file of %d bytes is too large for an image", st.Size()))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files, file{path: rel, size: st.Size(), modTime: modTimeOf(st)})
}

// unread records an entry that cannot be looked at because of err: a file, a folder, or a link to nothing.
func (s *scan) unread(rel string, e fs.DirEntry, err error) {
	switch {
	case e.IsDir():
		if s.filter.IncludesFolder(rel) {
			s.skip(rel, cause(err))
		}
	case s.isWanted(rel):
		s.skip(rel, whyUnread(rel, err))
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dangling = append(s.dangling, rel)
	}
}

// visit counts a visit of a folder and reports whether it may be listed again.
func (s *scan) visit(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	id := inode{uint64(sys.Dev), sys.Ino} //nolint:unconvert // Dev is an int32 on some systems
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.visits == nil {
		s.visits = map[inode]int{}
	}
	s.visits[id]++
	return s.visits[id] <= maxVisits
}

// isWanted reports whether rel has the name of an image and matches the patterns; it counts
// or records as skipped what does not.
func (s *scan) isWanted(rel string) bool {
	ext := strings.ToLower(path.Ext(rel))
	isImage := slices.Contains(readExtensions, ext)
	isOther := slices.Contains(unreadExtensions, ext)
	switch {
	case !isImage && !isOther:
		s.mu.Lock()
		s.ignored++
		s.mu.Unlock()
		return false
	case !s.filter.IncludesFile(rel):
		return false
	case isOther:
		s.skip(rel, "dsconv cannot read "+ext[1:]+" images")
		return false
	}
	return true
}

func (s *scan) skip(rel, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skips = append(s.skips, Skip{Path: rel, Cause: why})
}

func (s *scan) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.Join(s.err, err)
}

// cause returns err without the path, which the message already has.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// whyUnread returns why the file rel cannot be read. An fs.FS opens no names that are not UTF-8.
func whyUnread(rel string, err error) string {
	if bad := formats.CheckKey(stem(rel)); bad != nil && !fs.ValidPath(rel) {
		return bad.Error()
	}
	return cause(err)
}
