package indexfile

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/unblocked"
)

const (
	// unusedAge is the age after which a file in the cache that nobody opened is removed. useInterval is how old its time
	// may be before an opening renews it.
	unusedAge   = 90 * 24 * time.Hour
	useInterval = 24 * time.Hour
	// abandonedAge is the age of an unfinished file whose writer was killed: writing one takes seconds.
	abandonedAge = 24 * time.Hour
	// checkedBytes is the size up to which all of a cached index is verified when it is opened. Pages of larger ones are
	// verified when they are first read.
	checkedBytes = 64 << 20
)

// descriptionSuffix is that of the file beside an index that package foreign keeps.
const descriptionSuffix = ".json"

// cachePath returns where an index of that ID is in the user's cache, "" if there is no cache: no HOME, a relative one, or
// one in a folder of others, who could have put another dataset's samples there.
func cachePath(id sampleindex.ID) string {
	home, err := os.UserCacheDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	own := filepath.Join(home, "dsconv")
	dir := filepath.Join(own, "indexes")
	for _, at := range []string{home, own, dir} {
		if !isTrusted(at, at == home) {
			return ""
		}
	}
	return filepath.Join(dir, hex.EncodeToString(id[:]))
}

// isTrusted reports whether nobody but this user can have put something into the folder, or, if it is the home of caches,
// can exchange what this user has put there. What is not there, or cannot be read, is no danger.
func isTrusted(dir string, home bool) bool {
	f, err := unblocked.Open(dir)
	if err != nil {
		return true
	}
	defer f.Close()
	if durable.CheckOwn(f) == nil {
		return true
	}
	st, err := f.Stat()
	return err == nil && home && durable.OwnerOf(st) == 0 && (st.Mode().Perm()&0o022 == 0 || st.Mode()&os.ModeSticky != 0)
}

// DescriptionPath returns where the description of that dataset is in the user's cache, "" if there is no cache.
func DescriptionPath(id sampleindex.ID) string {
	path := cachePath(id)
	if path == "" {
		return ""
	}
	return path + descriptionSuffix
}

// OpenCached opens the index of s in the user's cache; fs.ErrNotExist if it is not there. The error of one that is
// damaged is formats.ErrDamaged.
func OpenCached(s *Source) (*File, error) {
	path := cachePath(s.ID)
	x, err := openAt(path, s)
	if err != nil {
		return nil, err
	}
	if len(x.mapping.Data) <= checkedBytes && !whole(x.Index) {
		return nil, errors.Join(formats.ErrDamaged, x.Close())
	}
	MarkUsed(path)
	return x, nil
}

// MakeCached makes the index of s again, in the user's cache, or in a file without a name if the cache cannot be written.
func MakeCached(s *Source) (*File, error) { return s.make("", cachePath(s.ID)) }

// MakeFolder makes the folder of a file in the cache. Only its user may see what datasets there are.
func MakeFolder(path string) error { return os.MkdirAll(filepath.Dir(path), 0o700) }

// MarkUsed notes that a file of the cache is in use, by its time.
func MarkUsed(path string) {
	now := time.Now()
	if st, err := os.Stat(path); err == nil && now.Sub(st.ModTime()) > useInterval {
		_ = os.Chtimes(path, time.Time{}, now) // in a cache that cannot be written nothing is removed either
	}
}

// prune removes the files of the cache's folder that were not used for long, and those that a kill left unfinished. It leaves
// everything that has not the name of one.
func prune(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		most := unusedAge
		switch {
		case !e.Type().IsRegular():
			continue
		case durable.IsTemporary(e.Name()) && isID(strings.Split(e.Name(), ".")[1]):
			most = abandonedAge
		case !isCached(filepath.Join(dir, e.Name())):
			continue
		}
		if st, err := e.Info(); err == nil && now.Sub(st.ModTime()) > most {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may do the same
		}
	}
}

// isCached reports whether the file in the cache has the name and the beginning of one of this package's.
func isCached(path string) bool {
	name := filepath.Base(path)
	id, described := strings.CutSuffix(name, descriptionSuffix)
	if !isID(id) {
		return false
	}
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 64)
	n, _ := f.ReadAt(b, 0)
	return described && strings.HasPrefix(string(b[:n]), `{"id":"`+id+`"`) || !described && sampleindex.IsIndex(b[:n])
}

// isID reports whether s is an ID as the cache's names have it.
func isID(s string) bool {
	id, err := hex.DecodeString(s)
	return err == nil && len(id) == len(sampleindex.ID{})
}
