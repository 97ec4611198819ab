package folder

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
)

// walkList looks at the files of a list instead of walking a folder.
func (s *scan) walkList(ctx context.Context, paths []string, exists []bool) error {
	s.classes = classFolders{}
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for w := range maxListings {
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

// listed adds every maxListings-th file of the list.
func (s *scan) listed(ctx context.Context, paths []string, exists []bool, first int) error {
	var files []file
	for i := first; i < len(paths) && ctx.Err() == nil; i += maxListings {
		rel := paths[i]
		if !exists[i] || !s.wantsListed(rel) {
			continue
		}
		st, err := s.in.stat(rel)
		if err != nil {
			s.leaveOut(rel, whyUnread(rel, err))
			continue
		}
		if files = s.file(file{path: rel, size: st.Size(), modTime: modTimeOf(st)}, st.Mode().IsRegular(), nil, files); len(files) == maxEntries {
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
func (s *scan) wantsListed(rel string) bool {
	ext := strings.ToLower(path.Ext(rel))
	switch {
	case !hasImageName(rel), !s.filter.IncludesFile(rel):
		return false
	case slices.Contains(unreadExtensions, ext):
		s.leaveOut(rel, "dsconv cannot read "+ext[1:]+" images")
		return false
	}
	if dir := path.Dir(rel); dir != "." {
		s.mu.Lock()
		s.classes.mark(dir)
		s.mu.Unlock()
	}
	return true
}
