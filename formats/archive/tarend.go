package archive

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

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
		at := s.in.position()
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
	sequence
	end     int64 // -1 for none
	skipped bool
	zeros   int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.end >= 0 {
		left := b.end - b.position()
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
