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
		st, err := s.in.Stat(rel)
		if err != nil {
			s.lost(rel, whyUnread(rel, err))
			continue
		}
		if files = s.file(vfs.File{Path: rel, Size: st.Size(), ModTime: vfs.ModTime(st)}, st.Mode().IsRegular(), nil, files); len(files) == vfs.MaxEntries {
			if err := s.found.add(files); err != nil {
				return err
			}
			files = files[:0]
		}
	}
	return s.found.add(files)
}

// wantsListed reports whether a listed file is an image that is selected, and marks its folder as one of a
// class. Names of other files are rows without an image: see tables.Table.Missing.
func (s *Scan) wantsListed(rel string) bool {
	ext := strings.ToLower(path.Ext(rel))
	switch {
	case !vfs.HasImageName(rel), !s.filter.IncludesFile(rel):
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
