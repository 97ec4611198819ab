package archive

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

const (
	maxInner = 4 // tars in tars
	tarBlock = 512
)

const (
	whyTar    = "it has the name of a tar and is none, or is damaged from its start"
	whyPacked = "an archive in the archive: only a .tar in a tar is read"
)

// tarScan lists the members of a tar.
type tarScan struct {
	*index
	in    *sequence
	last  int   // the entry added last, -1 if none
	since int64 // in.consumed() where its data begins
}

// scanTar lists the members of the tar that in begins with.
func scanTar(in *sequence, x *index) error {
	s := &tarScan{index: x, in: in, last: -1}
	end := int64(-1) // of a compressed one, which is not known
	if in.plain != nil {
		end = in.plain.Size()
	}
	if _, err := s.list("", end, 0); err != nil {
		return err
	}
	s.sort()
	if err := s.followHardLinks(); err != nil {
		return err
	}
	if err := s.finish(); err != nil {
		return err
	}
	return s.followSymlinks()
}

// list adds the members of the tar from the current position to end, or to its own end if that is -1. name is that of
// a tar in the tar, whose members are below the folder of its name; "" is the whole. It returns how many headers it has
// read.
func (s *tarScan) list(name string, end int64, depth int) (headers int, err error) {
	prefix := name[:max(0, len(name)-len(".tar"))]
	in := &bounded{sequence: s.in, end: end}
	r := tar.NewReader(in)
	at := s.in.pos // where the next member begins
	for {
		h, err := r.Next()
		s.endLast()
		switch {
		case errors.Is(err, io.EOF):
			return headers, s.checkEnd(in, name, headers)
		case err != nil && headers == 0 && errors.Is(err, tar.ErrHeader):
			return 0, errors.New("it is not a tar, or damaged from its start")
		case err != nil:
			return headers, s.explain(err, at)
		}
		headers++
		at = s.in.pos + h.Size
		if rest := at % tarBlock; rest > 0 {
			at += tarBlock - rest
		}
		next, err := s.member(h, prefix, end, depth)
		if err != nil {
			return headers, err
		}
		if next >= 0 { // the member was a tar, and r does not know where in is
			if _, err := s.in.Seek(next, io.SeekStart); err != nil {
				return headers, s.explain(err, at)
			}
			r = tar.NewReader(in)
		}
	}
}

// explain says where in the tar the error is.
func (s *tarScan) explain(err error, at int64) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("it is truncated: the member at byte %d is not whole%s; copy or download it again: %w", at, s.lastName(), io.ErrUnexpectedEOF)
	}
	if errors.Is(err, tar.ErrHeader) || errors.Is(err, tar.ErrFieldTooLong) {
		return fmt.Errorf("it is damaged: no member begins at byte %d%s", at, s.lastName())
	}
	return err
}

func (s *tarScan) lastName() string {
	if len(s.entries) == 0 {
		return ""
	}
	return fmt.Sprintf(" (after %s)", s.entries[len(s.entries)-1].path)
}

// endLast sets what the last member took of the compressed file.
func (s *tarScan) endLast() {
	if s.last >= 0 {
		s.entries[s.last].packed = s.in.consumed() - s.since
		s.last = -1
	}
}

// member adds a member. If that was a tar, next is where the member after it begins, else -1.
func (s *tarScan) member(h *tar.Header, prefix string, end int64, depth int) (next int64, err error) {
	name, why := cleanName(h.Name)
	if why != "" {
		return -1, s.refuse(h.Name, why)
	}
	if name == "" { // "./"
		return -1, nil
	}
	name = join(prefix, name)
	offset := s.in.pos
	switch h.Typeflag {
	case tar.TypeDir:
		err = s.mkdir(name)
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		if isSparse(h) {
			return -1, s.add(name, entry{}, "a sparse member, which dsconv does not read: unpack the tar")
		}
		if end >= 0 && h.Size > end-offset {
			return -1, s.explain(io.ErrUnexpectedEOF, offset)
		}
		if h.Size > math.MaxInt64-offset-tarBlock {
			return -1, fmt.Errorf("it is damaged: the member at byte %d says that it has %d bytes", offset, h.Size)
		}
		if strings.HasSuffix(strings.ToLower(name), ".tar") && depth < maxInner {
			return s.inner(name, h, offset, depth)
		}
		if isArchiveName(name) {
			return -1, s.refuse(name+"/", whyPacked)
		}
		s.last, s.since = len(s.entries), s.in.consumed()
		err = s.add(name, entry{offset: offset, size: h.Size, packed: h.Size}, "")
	case tar.TypeLink, tar.TypeSymlink:
		err = s.link(name, prefix, h)
	case tar.TypeXGlobalHeader, 'V', 'D': // a volume's name, a folder's list
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		err = s.add(name, entry{}, "not a regular file")
	case 'M':
		err = errors.New("it goes on from another volume: join the volumes first")
	default:
		err = s.add(name, entry{}, fmt.Sprintf("a member of unknown type %q", h.Typeflag))
	}
	return -1, err
}

func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return h.Typeflag == tar.TypeGNUSparse
}

// inner adds the members of a tar in the tar.
func (s *tarScan) inner(name string, h *tar.Header, offset int64, depth int) (next int64, err error) {
	end := offset + h.Size
	next = (end + tarBlock - 1) / tarBlock * tarBlock
	if h.Size == 0 {
		return -1, s.mkdir(name[:len(name)-len(".tar")])
	}
	headers, err := s.list(name, end, depth+1)
	switch {
	case err != nil && headers == 0:
		err = s.refuse(name+"/", whyTar)
	case err != nil:
		err = fmt.Errorf("%s in it: %w", name, err)
	}
	return next, err
}

// longestPadding is how many zeros may follow the end mark of a tar. A tar ends with a whole record: of 10 KiB by default,
// of 1 MiB (tar -b 2048) for fast tapes. More zeros are not those of a tar that is whole, as a rule: programs that
// download reserve a file's size before they fill it.
const longestPadding = 1 << 20

// checkEnd refuses, by the name of the tar, what is wrong with its end: it has no end mark, or more than padding follows it.
func (s *tarScan) checkEnd(in *bounded, name string, headers int) error {
	if in.zeros < tarBlock && headers > 0 { // the padding of a member is less than a block
		return s.refuse(name+"/", "this tar has no end mark: it may be truncated after its last member")
	}
	buf := make([]byte, 4096)
	for zeros := 0; zeros <= longestPadding; {
		at := s.in.pos
		n, err := in.Read(buf)
		if i := slices.IndexFunc(buf[:n], func(b byte) bool { return b != 0 }); i >= 0 {
			return s.refuse(name+"/", fmt.Sprintf("data follows the end mark of this tar at byte %d and is not read: it is several tars in one, or damaged; GNU tar unpacks all of it with --ignore-zeros", at+int64(i)))
		}
		zeros += n
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return s.explain(err, at)
		}
	}
	return s.refuse(name+"/", fmt.Sprintf("more than %d bytes of zeros follow the end mark of this tar, and what follows them is not read: it may be an unfinished download, or several tars in one; copy or download it again", longestPadding))
}

// bounded is a sequence that ends before its end, and remembers how many zeros it has just read.
type bounded struct {
	*sequence
	end     int64 // -1 for none
	skipped bool
	zeros   int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.end >= 0 {
		left := b.end - b.pos
		if left <= 0 {
			return 0, io.EOF
		}
		p = p[:min(int64(len(p)), left)]
	}
	n, err := b.sequence.Read(p)
	switch {
	case n > 0 && !b.skipped && isZero(p[:n]):
		b.zeros += n
	case n > 0: // also a member's last byte, which is read after a Seek
		b.zeros, b.skipped = 0, false
	}
	return n, err
}

func (b *bounded) Seek(offset int64, whence int) (int64, error) {
	b.skipped = b.skipped || offset != 0
	return b.sequence.Seek(offset, whence)
}

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
