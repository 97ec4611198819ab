package sharded

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// ShardPath is the parsed path of a dataset of one or many files: "out.tar",
// "train-%06d.tar", or for reading also "train-{000000..000127}.tar".
type ShardPath struct {
	Dir    string
	Before string // the file name up to the number
	width  int    // minimum digits of the number; -1 without one
	after  string
	lo, hi int // the range in braces; hi < lo without one
}

var (
	shardVerb   = regexp.MustCompile(`%(0\d+)?d`)
	shardBraces = regexp.MustCompile(`\{(\d+)\.\.(\d+)\}`)
)

// ParseShardPath parses path. The error says what is wrong with a pattern.
func ParseShardPath(path string) (ShardPath, error) {
	if err := formats.CheckPath(path); err != nil {
		return ShardPath{}, err
	}
	dir, base := filepath.Split(path)
	p := ShardPath{Dir: filepath.Clean(dir), Before: base, width: -1, hi: -1}
	if dir == "" {
		p.Dir = "."
	}
	if m := shardBraces.FindStringSubmatchIndex(base); m != nil {
		lo, errLo := strconv.Atoi(base[m[2]:m[3]])
		hi, errHi := strconv.Atoi(base[m[4]:m[5]])
		if errLo != nil || errHi != nil || hi < lo {
			return p, fmt.Errorf("%s: the range %s is empty or too large", path, base[m[0]:m[1]])
		}
		p.Before, p.width, p.after, p.lo, p.hi = base[:m[0]], m[3]-m[2], base[m[1]:], lo, hi
		return p, nil
	}
	switch all := shardVerb.FindAllStringIndex(base, -1); len(all) {
	case 0:
		return p, nil
	case 1:
		at := all[0]
		width := 1
		if digits := base[at[0]+1 : at[1]-1]; digits != "" {
			width, _ = strconv.Atoi(digits)
		}
		if width > 18 {
			return p, fmt.Errorf("%s: a shard number of %d digits; the limit is 18", path, width)
		}
		p.Before, p.width, p.after = base[:at[0]], width, base[at[1]:]
		return p, nil
	}
	return p, fmt.Errorf("%s: more than one shard number; write only one %%06d", path)
}

// IsPattern reports whether the path is a pattern of several files.
func (p ShardPath) IsPattern() bool { return p.width >= 0 }

// Braces returns the range of a path with braces.
func (p ShardPath) Braces() (lo, hi int, ok bool) { return p.lo, p.hi, p.hi >= p.lo }

// Name returns the name of shard i, without Dir.
func (p ShardPath) Name(i int) string {
	if !p.IsPattern() {
		return p.Before
	}
	return fmt.Sprintf("%s%0*d%s", p.Before, p.width, i, p.after)
}

// numberSeparators may separate a dataset's name from a shard's number.
const numberSeparators = "-_."

// Sidecar returns the folder that describes the dataset: "train.tar.dsconv" for
// "train-%06d.tar" and for "train.tar".
func (p ShardPath) Sidecar() string {
	return filepath.Join(p.Dir, strings.TrimRight(p.Before, numberSeparators)+p.after+sidecarSuffix)
}

// sidecarSuffix is the extension of a sidecar.
const sidecarSuffix = ".dsconv"

// ShardNumber returns the number of the shard with that file name; false if the name does not
// match the pattern.
func (p ShardPath) ShardNumber(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, p.Before)
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, p.after); !ok || len(digits) < p.width {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil && p.Name(i) == name
}

// ErrForeign is the error about a dataset's path that has something dsconv did not write.
var ErrForeign = fmt.Errorf("%w and was not written by dsconv", formats.ErrExists)

// replacedFiles lists the sidecar and those of its data files that are replaced with it: their
// names match a pattern with that sidecar, and they are in the table of checksums.
func (p ShardPath) replacedFiles(d Contents) ([]string, error) {
	old := []string{p.Sidecar()} // first: without it, nothing looks finished
	table := d.Checksums.ByName()
	for i, name := range d.meta.Files {
		path := filepath.Join(p.Dir, name)
		if !p.isShard(name) && !p.SharesSidecar(name) {
			continue // it has the name of another dataset or of the user's file: it stays
		}
		want, err := table.ForFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", path, ErrForeign, err)
		}
		st, err := os.Lstat(path)
		switch {
		case err != nil:
		case !st.Mode().IsRegular():
			// A link may point to a file that stays; replacing the link fails later.
			if st.Mode()&os.ModeSymlink == 0 {
				return nil, fmt.Errorf("%s: %w: it is %s", path, ErrForeign, durable.KindOf(st.Mode()))
			}
		case p.isShard(name) && name == d.OriginalFiles[i]: // it may be damaged
		case !want.MaybeSame(path, st.Size()):
			return nil, fmt.Errorf("%s: %w, or too damaged to tell: it has %d bytes, but the replaced dataset's file of that name has %d; move it away, then repeat the command",
				path, formats.ErrForeign, st.Size(), want.Size)
		}
		old = append(old, path)
	}
	return old, nil
}

// SharesSidecar reports whether a file of that name can belong to a dataset with the same
// sidecar: "train-00001.tar" and "train.tar" share that of "train-%06d.tar".
func (p ShardPath) SharesSidecar(name string) bool {
	if name != filepath.Base(name) {
		return false
	}
	stem := strings.TrimRight(p.Before, numberSeparators) + p.after
	isStem := func(before, after string) bool {
		start, ok := strings.CutSuffix(stem, after)
		return ok && strings.TrimRight(before, numberSeparators) == start
	}
	if isStem(name, "") {
		return true
	}
	for from := range len(name) {
		for to := from + 1; to <= len(name) && name[to-1] >= '0' && name[to-1] <= '9'; to++ {
			if isStem(name[:from], name[to:]) {
				return true
			}
		}
	}
	return false
}

// isShard reports whether the name is that of one of the dataset's data files.
func (p ShardPath) isShard(name string) bool {
	_, ok := p.ShardNumber(name)
	return ok || !p.IsPattern() && name == p.Before
}

// ExistingFiles lists the files that a dataset at p would replace: those of the finished
// dataset there. It is an error if files match the pattern but there is no sidecar: dsconv did
// not write them.
func (p ShardPath) ExistingFiles() ([]string, error) {
	if st, err := os.Lstat(p.Sidecar()); err == nil {
		d, err := p.OpenSidecar()
		if err != nil || !st.IsDir() {
			return nil, fmt.Errorf("%s: %w; choose another path", p.Sidecar(), ErrForeign)
		}
		return p.replacedFiles(d)
	}
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return nil, nil //nolint:nilerr // a missing folder has no files; creating it reports what is wrong
	}
	for _, e := range entries {
		if p.isShard(e.Name()) {
			return nil, fmt.Errorf("%s: %w; choose another path", filepath.Join(p.Dir, e.Name()), ErrForeign)
		}
	}
	return nil, nil
}

// SizeOfFiles returns the number of bytes in the file at path, or in the files below it.
func SizeOfFiles(path string) (total int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
