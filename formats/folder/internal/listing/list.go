package listing

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// WalkList looks at the files of a list instead of walking a folder.
func (s *Scan) WalkList(ctx context.Context, paths []string, exists []bool) error {
	s.Classes = layout.Folders{}
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for w := range vfs.MaxOpen {
		workers.Go(func() {
			if err := s.listed(ctx, paths, exists, w); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
			}
		})
	}
	workers.Wait()
	return errors.Join(failed, ctx.Err())
}

// listed adds every MaxOpen-th file of the list.
func (s *Scan) listed(ctx context.Context, paths []string, exists []bool, first int) error {
	var files []vfs.File
	for i := first; i < len(paths) && ctx.Err() == nil; i += vfs.MaxOpen {
		rel := paths[i]
		if !exists[i] || !s.wantsListed(rel) {
			continue
		}
		l := look{File: vfs.File{Path: rel}, field: -1, kind: image}
		if !vfs.HasImageName(rel) {
			l.kind = unknown
		}
		st, err := s.in.Stat(rel)
		if err != nil {
			s.lost(rel, whyUnread(rel, err))
			continue
		}
		l.Size, l.ModTime, l.regular = st.Size(), vfs.ModTime(st), st.Mode().IsRegular()
		s.inspect(&l)
		if files = s.accept(&l, &folderRef{}, files); len(files) == vfs.MaxEntries {
			if err := s.found.add(files); err != nil {
				return err
			}
			files = files[:0]
		}
		if s.count(1); ctx.Err() != nil {
			break
		}
	}
	return s.found.add(files)
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
