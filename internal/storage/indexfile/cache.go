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

// cachePath returns where an index of that ID is in the user's cache, "" if there is no cache: no HOME, or a relative one.
func cachePath(id sampleindex.ID) string {
	dir, err := os.UserCacheDir()
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "dsconv", "indexes", hex.EncodeToString(id[:]))
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
		case durable.IsTemporary(e.Name()):
			most = abandonedAge
		case !isCached(e.Name()):
			continue
		}
		if st, err := e.Info(); err == nil && now.Sub(st.ModTime()) > most {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may do the same
		}
	}
}

// isCached reports whether name is one that this package gives to a file in the cache.
func isCached(name string) bool {
	id, err := hex.DecodeString(strings.TrimSuffix(name, descriptionSuffix))
	return err == nil && len(id) == len(sampleindex.ID{})
}
