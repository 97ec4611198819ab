package listing

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/parallel"
)

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
	st, err := s.in.Stat(rel)
	if err != nil {
		s.lost(rel, whyUnread(rel, err))
		return nil
	}
	l.Size, l.ModTime, l.regular = st.Size(), vfs.ModTime(st), st.Mode().IsRegular()
	s.inspect(&l)
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
