package archive

import (
	"archive/tar"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// methodSymlink and methodHardLink mark an entry that is a link to the member tarScan.links[offset], until links are
	// followed.
	methodSymlink  = 0xffff
	methodHardLink = 0xfffe
	maxLinks       = 40 // from link to link, as Linux follows them
)

const (
	whyNowhere = "a link to a file that the archive does not have"
	whyNotYet  = "a hard link to a file that the archive does not have before it"
	whyOutside = "a link out of the archive: it is not followed"
	whyFolder  = "a link to a folder: it is not followed"
)

// link adds a link, which followHardLinks or followSymlinks follows.
func (s *tarScan) link(name, prefix string, h *tar.Header) error {
	var target, why string
	method := uint16(methodHardLink)
	if h.Typeflag == tar.TypeSymlink {
		method = methodSymlink
		if target, why = linkTarget(name, h.Linkname); why == "" && prefix != "" && !strings.HasPrefix(target, prefix+"/") {
			why = whyOutside
		}
	} else if target, why = cleanName(h.Linkname); why == "" {
		target = join(prefix, target)
	} else {
		why = whyOutside
	}
	if why != "" {
		return s.add(name, entry{}, why)
	}
	s.links = append(s.links, target)
	if err := s.grow(len(target) + 16); err != nil {
		return err
	}
	return s.add(name, entry{method: method, offset: int64(len(s.links) - 1)}, "")
}

// followHardLinks gives each hard link what the member of its target's name is that stands last before it: that is the
// file which unpacking finds, whatever is stored under the name later. The entries are sorted.
func (s *tarScan) followHardLinks() error {
	var hard []*entry
	for i := range s.entries {
		if e := &s.entries[i]; e.method == methodHardLink {
			hard = append(hard, e)
		}
	}
	slices.SortFunc(hard, func(a, b *entry) int { return cmp.Compare(a.order, b.order) })
	for _, e := range hard { // a link that one leads to is followed already
		target := s.links[e.offset]
		switch to := s.before(target, int(e.order)); {
		case to != nil:
			e.method, e.offset, e.size, e.packed, e.refusal = to.method, to.offset, to.size, to.packed, to.refusal
		case s.known[target]:
			if err := s.refuseFolderLink(e); err != nil {
				return err
			}
		default:
			e.method, e.offset, e.refusal = 0, 0, s.cause(whyNotYet)
		}
	}
	return nil
}

// refuseFolderLink refuses a link to a folder, also as a folder, since it may stand for images.
func (s *tarScan) refuseFolderLink(e *entry) error {
	e.method, e.offset, e.refusal = 0, 0, s.cause(whyFolder)
	return s.refuse(e.path+"/", whyFolder)
}

// followSymlinks gives each symbolic link the data of the file that it leads to.
func (s *tarScan) followSymlinks() error {
	var folders []*entry
	for i := range s.entries {
		e := &s.entries[i]
		if e.method != methodSymlink {
			continue
		}
		target, to := "", e
		for range maxLinks {
			target = s.links[to.offset]
			if to = s.find(target); to == nil || to.method != methodSymlink {
				break
			}
		}
		switch {
		case to == nil && s.known[target]:
			folders = append(folders, e)
		case to == nil:
			e.refusal = s.cause(whyNowhere)
		case to.method == methodSymlink:
			e.refusal = s.cause(fmt.Sprintf("a chain of more than %d links, or one without end", maxLinks))
		default:
			e.refusal, e.size, e.packed = to.refusal, to.size, to.packed
			e.limit = to.offset // offset is needed as long as links lead here
		}
	}
	for _, e := range folders {
		if err := s.refuseFolderLink(e); err != nil {
			return err
		}
	}
	for i := range s.entries {
		if e := &s.entries[i]; e.method == methodSymlink {
			e.method, e.offset, e.limit = 0, e.limit, 0
		}
	}
	return nil
}
