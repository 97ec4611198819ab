package listing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/parallel"
)

// look is an entry of a folder that is looked at. On a disk of the network that takes milliseconds, so it is done for many
// entries at once, and before anything is decided.
type look struct {
	vfs.File
	entry   fs.DirEntry
	link    bool // it is a folder, or a link
	field   int  // that it belongs to; -1 if none
	kind    kind
	info    fs.FileInfo // of a folder or a link
	regular bool
	text    bool   // its content is text
	what    string // its content, if it is no image
	err     error
}

// choose returns the entries of the folder ref that must be looked at.
func (s *Scan) choose(entries []fs.DirEntry, ref *folderRef) []look {
	looks := make([]look, 0, len(entries))
	for _, e := range entries {
		rel := e.Name()
		if ref.rel != "" {
			rel = ref.rel + "/" + rel
		}
		l := look{File: vfs.File{Path: rel}, entry: e, link: e.IsDir() || e.Type()&fs.ModeSymlink != 0, field: -1}
		if !l.link {
			s.know(&l, ref)
		}
		if l.link || l.field >= 0 || l.kind != noImage {
			looks = append(looks, l)
		}
	}
	return looks
}

// know sets what the name of a file, in the folder ref, tells.
func (s *Scan) know(l *look, ref *folderRef) {
	l.kind = noImage
	if s.fields != nil && ref.system == "" {
		l.field = s.fields.FieldOf(l.Path)
	}
	if l.field < 0 {
		l.kind = s.kindOf(l.Path, ref)
	}
}

// lookAt looks at entries of the folder f, on as many goroutines as list folders and are free.
func (s *Scan) lookAt(ctx context.Context, f vfs.Folder, looks []look) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(looks); i = int(next.Add(1)) - 1 {
			l := &looks[i]
			switch {
			case ctx.Err() != nil:
				l.err = ctx.Err() // list does not use what was not looked at
			case l.link:
				s.follow(l)
			default:
				l.Size, l.ModTime, l.regular, l.err = f.Stat(l.entry.Name())
				s.inspect(l)
			}
		}
	}
	var helpers sync.WaitGroup
	for range (len(looks) - 1) / minShare {
		if !s.help(1) {
			break
		}
		helpers.Go(func() {
			defer s.help(-1)
			work()
		})
	}
	work()
	helpers.Wait()
}

// follow looks at a folder, or at what a link leads to.
func (s *Scan) follow(l *look) {
	st, err := s.in.Stat(l.Path)
	if l.err = err; err != nil {
		return
	}
	l.info, l.Size, l.ModTime, l.regular = st, st.Size(), vfs.ModTime(st), st.Mode().IsRegular()
	if vfs.IsUnknown(l.Path) {
		l.kind = unknown
	}
	s.inspect(l)
}

// minShare is how many entries are worth a goroutine.
const minShare = 4

// help reports whether one more goroutine may look at files, and counts it; -1 ends one.
func (s *Scan) help(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && s.active+s.helping >= vfs.MaxOpen {
		return false
	}
	s.helping += n
	return true
}

// inspect reads the first bytes of a file whose name does not tell what it is.
func (s *Scan) inspect(l *look) {
	beside := strings.HasPrefix(path.Base(l.Path), "._") // see RFC 1740: attributes of the file whose name follows
	if l.err != nil || !l.regular || l.field >= 0 || l.kind != unknown && !beside || l.Size > vfs.MaxFile {
		return
	}
	l.what, l.text, l.err = vfs.Content(s.in, l.Path)
	if beside && l.kind == image && !vfs.IsAppleDouble(l.what) {
		l.what = "" // reading it says what is wrong
	}
}

// accept appends a file to files, unless it is one of a field, or there is a reason to leave it out.
func (s *Scan) accept(l *look, ref *folderRef, files []vfs.File) []vfs.File {
	switch {
	case l.field >= 0:
		s.fieldFile(l.field, l.File, l.regular, l.err)
	case l.kind == noImage:
	case l.err != nil:
		s.leaveOut(l.Path, whyUnread(l.Path, l.err))
	case !l.regular:
		s.leaveOut(l.Path, "not a regular file")
	case l.Size > vfs.MaxFile:
		s.leaveOut(l.Path, fmt.Sprintf("a file of %d bytes is too large for an image", l.Size))
	case l.text:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Texts = append(s.Texts, l.Path)
	case vfs.IsAppleDouble(l.what):
		s.ignore(l.Path)
	case l.what != "":
		s.leaveOut(l.Path, "not an image that dsconv reads: it is "+l.what)
	default:
		if l.kind == unknown {
			ref.images++
		}
		return append(files, l.File)
	}
	return files
}

// count counts entries that were found.
func (s *Scan) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counted += n; s.Progress != nil && (n > 1 || s.counted%100 == 0) {
		s.Progress(s.counted)
	}
}

// WalkList looks at the files of a list instead of walking a folder.
func (s *Scan) WalkList(ctx context.Context, paths []string, exists []bool) error {
	s.Classes = layout.Folders{}
	return parallel.Each(ctx, len(paths), vfs.MaxOpen, func() (func(int) error, func(), error) {
		return func(i int) error {
			if exists[i] && s.wantsListed(paths[i]) {
				return s.listed(paths[i])
			}
			return nil
		}, func() {}, nil
	})
}

// listed adds a file of the list.
func (s *Scan) listed(rel string) error {
	l := look{File: vfs.File{Path: rel}, field: -1, kind: image}
	if !vfs.HasImageName(rel) {
		l.kind = unknown
	}
	if s.follow(&l); l.info == nil {
		s.lost(rel, whyUnread(rel, l.err))
		return nil
	}
	s.count(1)
	return s.found.add(s.accept(&l, &folderRef{}, nil))
}

// wantsListed reports whether a listed file may be an image and is selected, and marks its folder as one of a class.
func (s *Scan) wantsListed(rel string) bool {
	ext := strings.ToLower(path.Ext(rel))
	switch {
	case !s.filter.IncludesFile(rel):
		return false
	case slices.Contains(vfs.UnreadExtensions, ext):
		s.leaveOut(rel, "dsconv cannot read "+ext[1:]+" images")
		return false
	}
	if dir := path.Dir(rel); dir != "." {
		s.mu.Lock()
		s.Classes.Mark(dir)
		s.mu.Unlock()
	}
	return true
}

// fail keeps an error, which ends the scan; nil is none.
func (s *Scan) fail(err error) {
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = errors.Join(s.err, err)
	}
}

// fieldFile adds a file of a field. One that cannot be read is missing, which reading its sample reports.
func (s *Scan) fieldFile(field int, f vfs.File, regular bool, err error) {
	switch {
	case err != nil:
		s.leaveOut(f.Path, whyUnread(f.Path, err))
	case !regular || f.Size > vfs.MaxFile:
		s.leaveOut(f.Path, "not a regular file, or too large")
	default:
		s.fail(s.fields.Add(field, f))
	}
}

// placed returns the files that are images of samples, and records their folders.
func (s *Scan) placed(files []vfs.File) []vfs.File {
	if s.fields == nil {
		return files
	}
	kept, last := files[:0], "\x00"
	for _, f := range files {
		virtual, ok := s.fields.Place(f.Path)
		if !ok {
			s.leaveOut(f.Path, "it is no file of --field image="+s.fields.ImagePattern())
			continue
		}
		if virtual != f.Path {
			f.Virtual = virtual
		}
		kept = append(kept, f)
		if dir := path.Dir(virtual); dir != last {
			s.mu.Lock()
			s.fields.Mark(dir)
			s.mu.Unlock()
			last = dir
		}
	}
	return kept
}
