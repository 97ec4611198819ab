// Package listing finds the images of a folder, the files of their fields, and what is skipped.
package listing

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

	"github.com/bmatcuk/doublestar/v4"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/fields"
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// maxVisits bounds how often links may lead to one folder: with a few links, there can be very many
// paths to it.
const maxVisits = 100

// folderRef is a folder that must be listed, in the chain of those above it.
type folderRef struct {
	rel         string
	up          *folderRef
	id          vfs.Place
	linked      bool   // a link leads to it, or to a folder above it
	system      string // the system folder that it is, or is in; "" if none
	images      int    // image files in it, without those in folders below
	hidesFolder bool   // a pattern leaves out a folder in it, which may have images
}

// Scan lists a folder and those below it, following links. The files are in found in any order.
type Scan struct {
	in     vfs.FS
	filter *formats.FileFilter
	found  *Files

	mu       sync.Mutex
	changed  sync.Cond // pending or active
	pending  []*folderRef
	active   int               // folders that are being listed
	helping  int               // goroutines that help to look at files
	counted  int               // files and folders
	visits   map[vfs.Place]int // of folders by links
	Skips    []formats.Skip
	Ignored  int             // files whose names are not those of images
	Texts    []string        // files that are text, and whose names do not say so
	Progress func(files int) // if not nil, it gets how many files and folders were found, from one goroutine at a time
	Archives []string        // files with the names of archives, which are not listed
	System   *SystemFolders
	Classes  layout.Folders
	fields   *fields.Set // nil without fields
	err      error
}

// New returns a scan of the files in in that filter includes, whose images it adds to found. fields is nil without
// fields.
func New(in vfs.FS, filter *formats.FileFilter, found *Files, system *SystemFolders, fields *fields.Set) *Scan {
	return &Scan{in: in, filter: filter, found: found, System: system, fields: fields}
}

// Walk lists all files below root.
func (s *Scan) Walk(ctx context.Context) error {
	st, err := s.in.Stat("")
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the path
		}
		return fmt.Errorf("open the folder %s: %w", s.in, err)
	}
	if !st.IsDir() {
		return fmt.Errorf("%s is not a folder", s.in)
	}
	s.changed.L = &s.mu
	s.visits = map[vfs.Place]int{}
	s.Classes = layout.Folders{}
	s.pending = []*folderRef{{id: vfs.PlaceOf(st)}}
	var listers sync.WaitGroup
	for range vfs.MaxOpen {
		listers.Go(func() {
			for ref := s.take(ctx); ref != nil; ref = s.take(ctx) {
				below, err := s.list(ctx, ref)
				s.done(ref, below, err)
			}
		})
	}
	listers.Wait()
	return errors.Join(s.err, ctx.Err())
}

// take returns the next folder to list, nil at the end. The last one found is the next: then few are
// pending.
func (s *Scan) take(ctx context.Context) *folderRef {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending) == 0 && s.active > 0 && s.err == nil {
		s.changed.Wait()
	}
	last := len(s.pending) - 1
	if last < 0 || s.err != nil || ctx.Err() != nil {
		return nil
	}
	ref := s.pending[last]
	s.pending = s.pending[:last]
	s.active++
	return ref
}

// done ends the listing of a folder: below are those to list next.
func (s *Scan) done(ref *folderRef, below []*folderRef, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ref.system != "" && ref.images > 0:
		s.System.Counts[ref.system] += ref.images
	case ref.system == "" && ref.images > 0:
		s.Classes.Mark(ref.rel)
	case ref.system == "" && ref.hidesFolder:
		s.Classes.Keep(ref.rel)
	}
	for _, folder := range below {
		if folder.system == "" {
			s.Classes.Found(folder.rel)
		}
	}
	s.pending = append(s.pending, below...)
	s.active--
	s.err = errors.Join(s.err, err)
	s.changed.Broadcast()
}

// list lists one folder.
func (s *Scan) list(ctx context.Context, ref *folderRef) (below []*folderRef, err error) {
	f, err := s.in.OpenFolder(ref.rel)
	if err != nil {
		return nil, s.unlisted(ref, err)
	}
	defer f.Close()
	for ctx.Err() == nil {
		entries, err := f.Next()
		if err != nil {
			return below, s.unlisted(ref, err)
		}
		if len(entries) == 0 {
			break
		}
		looks := s.choose(entries, ref)
		if s.lookAt(ctx, f, looks); ctx.Err() != nil {
			break
		}
		files := make([]vfs.File, 0, len(looks))
		for i := range looks {
			if l := &looks[i]; l.link {
				files, below = s.folderOrLink(l, ref, files, below)
			} else {
				files = s.accept(l, ref, files)
			}
		}
		files = s.placed(files)
		if err := s.found.add(files); err != nil {
			return below, err
		}
		s.count(len(entries))
	}
	return below, nil
}

// unlisted records that a folder cannot be listed because of err; for the root that is the scan's error.
func (s *Scan) unlisted(ref *folderRef, err error) error {
	var conflict vfs.ConflictError
	if ref.rel == "" || errors.As(err, &conflict) {
		return err
	}
	s.skipFolder(ref, vfs.Cause(err))
	return nil
}

// skipFolder records a folder that is not listed. It may have images, so it stays a class.
func (s *Scan) skipFolder(ref *folderRef, why string) {
	if ref.system != "" {
		return
	}
	s.leaveOut(ref.rel, why)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Classes.Keep(ref.rel)
}

// folderOrLink appends the folder or file that was looked at to below or files.
func (s *Scan) folderOrLink(l *look, up *folderRef, files []vfs.File, below []*folderRef) ([]vfs.File, []*folderRef) {
	rel, e, st := l.Path, l.entry, l.info
	switch {
	case st == nil:
		s.unread(rel, e, up, l.err)
	case st.IsDir():
		ref := &folderRef{rel: rel, up: up, id: vfs.PlaceOf(st), linked: up.linked || !e.IsDir(), system: up.system}
		if ref.system == "" && s.System.LeavesOut(e.Name()) {
			ref.system = rel
		}
		if !s.filter.IncludesFolder(rel) {
			up.hidesFolder = up.hidesFolder || ref.system == ""
		} else if s.mayList(ref, e, st) {
			below = append(below, ref)
		}
	default:
		s.know(l, up)
		files = s.accept(l, up, files)
	}
	return files, below
}

// mayList reports whether a folder can be listed without a loop, and records why not.
func (s *Scan) mayList(ref *folderRef, e fs.DirEntry, st fs.FileInfo) bool {
	for up := ref.up; up != nil; up = up.up {
		if up.id == ref.id && ref.id != (vfs.Place{}) {
			if ref.system == "" {
				s.leaveOut(ref.rel, "a link to a folder above it (a loop)")
			}
			return false
		}
	}
	switch {
	case !e.IsDir() && !os.SameFile(st, st): // which compares only folders of the disk
		s.skipFolder(ref, "a link to a folder, in a file system that cannot tell whether that is a loop")
	case ref.linked && !s.visit(ref.id):
		s.skipFolder(ref, "too many links lead to this folder")
	default:
		return true
	}
	return false
}

// unread records an entry that cannot be looked at because of err: a file, a folder, or a link to nothing.
func (s *Scan) unread(rel string, e fs.DirEntry, up *folderRef, err error) {
	switch {
	case e.IsDir():
		if s.filter.IncludesFolder(rel) {
			s.skipFolder(&folderRef{rel: rel, system: up.system}, vfs.Cause(err))
		}
	case s.kindOf(rel, up) == image:
		s.lost(rel, whyUnread(rel, err))
	case up.system == "" && !vfs.IsSystemName(e.Name()) && s.filter.IncludesFolder(rel):
		s.lost(rel, "a link that leads nowhere, perhaps once to a folder of images: is its disk mounted?")
	}
}

// visit counts a visit of a folder by a link and reports whether it may be listed again.
func (s *Scan) visit(id vfs.Place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits[id]++
	return s.visits[id] <= maxVisits || id == (vfs.Place{})
}

// kind is what the name of a file tells.
type kind int

const (
	noImage kind = iota // it is left out, and was counted
	image
	unknown // its first bytes decide
)

// kindOf returns what the name of rel, in the folder of ref, tells; it counts or records as skipped what is no image or is
// not selected.
func (s *Scan) kindOf(rel string, ref *folderRef) kind {
	ext := strings.ToLower(path.Ext(rel))
	isImage := vfs.IsImageExtension(ext)
	isOther := slices.Contains(vfs.UnreadExtensions, ext)
	switch {
	case !isImage && !isOther && ref.system == "" && vfs.IsUnknown(rel) && s.filter.IncludesFile(rel):
		return unknown
	case !isImage && !isOther:
		if ref.system == "" {
			s.ignore(rel)
			s.fail(s.found.askAbout(rel))
		}
		return noImage
	case ref.system != "":
		if s.filter.IncludesFile(rel) {
			ref.images++
		}
		return noImage
	}
	ref.images++
	switch {
	case !s.filter.IncludesFile(rel):
		return noImage
	case isOther:
		s.leaveOut(rel, "dsconv cannot read "+ext[1:]+" images")
		return noImage
	}
	return image
}

// ignore counts a file that is no image, or records the archive.
func (s *Scan) ignore(rel string) {
	isArchive := vfs.HasArchiveName(rel) && s.filter.IncludesFile(rel)
	s.mu.Lock()
	defer s.mu.Unlock()
	if isArchive {
		s.Archives = append(s.Archives, rel)
		return
	}
	s.Ignored++
}

func (s *Scan) leaveOut(rel, why string) { s.skip(formats.Skip{Path: rel, Cause: why}) }

// lost is leaveOut of what should be there: a link or a list names it.
func (s *Scan) lost(rel, why string) { s.skip(formats.Skip{Path: rel, Cause: why, Missing: true}) }

func (s *Scan) skip(k formats.Skip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Skips = append(s.Skips, k)
}

// whyUnread returns why the file rel cannot be read. An fs.FS opens no names that are not UTF-8.
func whyUnread(rel string, err error) string {
	if bad := formats.CheckKey(vfs.Stem(rel)); bad != nil && !fs.ValidPath(rel) {
		return bad.Error()
	}
	return vfs.Cause(err)
}

// SystemFolders decides which folders are left out, and counts their images.
type SystemFolders struct {
	off     bool     // none are: a table says which files are images
	include []string // elements of the patterns that select files
	Counts  map[string]int
}

// NewSystemFolders leaves out none if off is set, and none that a pattern of include names.
func NewSystemFolders(off bool, include []string) *SystemFolders {
	f := &SystemFolders{off: off, Counts: map[string]int{}}
	for _, pattern := range include {
		for element := range strings.SplitSeq(pattern, "/") {
			// As in a shell, a wildcard at the start does not match them.
			if element != "" && !strings.ContainsAny(element[:1], "*?") && doublestar.ValidatePattern(element) {
				f.include = append(f.include, element)
			}
		}
	}
	return f
}

// LeavesOut reports whether the folder with that name is left out.
func (f *SystemFolders) LeavesOut(name string) bool {
	return !f.off && vfs.IsSystemName(name) &&
		!slices.ContainsFunc(f.include, func(element string) bool { return doublestar.MatchUnvalidated(element, name) })
}
