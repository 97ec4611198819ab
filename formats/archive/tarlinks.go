package archive

import (
	"archive/tar"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const maxLinks = 40 // from link to link, as Linux follows them

const (
	whyNowhere = "a link to a file that the archive does not have"
	whyNotYet  = "a hard link to a file that the archive does not have before it"
	whyOutside = "a link out of the archive: it is not followed"
	whyFolder  = "a link to a folder: it is not followed"
)

// link adds a link, which followHardLinks or followSymlinks follows.
func (s *tarScan) link(name, prefix string, h *tar.Header) error {
	var target, why string
	if h.Typeflag == tar.TypeSymlink {
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
	return s.add(name, entry{link: target, hard: h.Typeflag == tar.TypeLink}, "")
}

// followHardLinks gives each hard link what the member of its target's name is that stands last before it: that is the
// file which unpacking finds, whatever is stored under the name later. The entries are sorted.
func (s *tarScan) followHardLinks() error {
	var hard []*entry
	for i := range s.entries {
		if e := &s.entries[i]; e.hard {
			hard = append(hard, e)
		}
	}
	slices.SortFunc(hard, func(a, b *entry) int { return cmp.Compare(a.order, b.order) })
	for _, e := range hard { // a link that one leads to is followed already
		target := e.link
		e.hard, e.link = false, ""
		switch to := s.before(target, int(e.order)); {
		case to != nil:
			path, order := e.path, e.order
			*e = *to
			e.path, e.order = path, order
		case s.known[target]:
			if err := s.refuseFolderLink(e); err != nil {
				return err
			}
		default:
			e.refusal = whyNotYet
		}
	}
	return nil
}

// refuseFolderLink refuses a link to a folder, also as a folder, since it may stand for images.
func (s *tarScan) refuseFolderLink(e *entry) error {
	e.refusal = whyFolder
	return s.refuse(e.path+"/", whyFolder)
}

// followSymlinks gives each symbolic link the data of the file that it leads to.
func (s *tarScan) followSymlinks() error {
	for i := range s.entries {
		e := &s.entries[i]
		if e.link == "" {
			continue
		}
		target, to := "", e
		for range maxLinks {
			target = to.link
			if to = s.find(target); to == nil || to.link == "" {
				break
			}
		}
		switch {
		case to == nil && s.known[target]:
			if err := s.refuseFolderLink(e); err != nil {
				return err
			}
		case to == nil:
			e.refusal = whyNowhere
		case to.link != "":
			e.refusal = fmt.Sprintf("a chain of more than %d links, or one without end", maxLinks)
		default:
			e.refusal, e.size, e.packed, e.offset = to.refusal, to.size, to.packed, to.offset
		}
	}
	return nil
}
