package shards

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// work is the folder DST.shards, in which the shards of a dataset are packed until they are committed:
//
//	plan.json            which plan they are of; it is there from the plan to the commit
//	swept.json           the same while the folder is removed: it shows that dsconv made the others
//	try-00003-1f2e3d4c/  an attempt to pack shard 3
//	shard-00003/         shard 3, complete: an attempt that was renamed
type work struct {
	dir string
	id  string // of the plan
}

const (
	workSuffix = ".shards"
	markerName = "plan.json"
	sweptName  = "swept.json"
	unitName   = "shard.json"
)

// workNames are the names of what is removed in the end. Most commands never need them.
var workNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(try-\d{5,}-[0-9a-z]{8,}|shard-\d{5,})$`)
})

// marker is the content of markerName.
type marker struct {
	Plan string `json:"dsconv_shards_of_plan"` // its ID
	File string `json:"file"`                  // of the plan, for messages
}

func (p *Plan) work(d *Dataset) *work { return &work{dir: d.Path + workSuffix, id: p.ID} }

// errNoWork means that the folder is not there: the plan was committed, or dropped.
var errNoWork = errors.New("there are no shards of this plan any more")

// check returns errNoWork if there is no folder, and errOtherPlan if it is another plan's.
func (w *work) check() error {
	root, err := w.open()
	if err != nil {
		return err
	}
	defer root.Close()
	b, err := root.ReadFile(markerName)
	switch {
	case durable.IsMissing(err):
		return errNoWork
	case err != nil:
		return fmt.Errorf("read %s: %w", filepath.Join(w.dir, markerName), err)
	}
	var m marker
	if err := json.Unmarshal(b, &m); err != nil || m.Plan == "" {
		return fmt.Errorf("%s: %w: its %s cannot be read; move the folder away, then repeat the command", w.dir, formats.ErrForeign, markerName)
	}
	if m.Plan != w.id {
		return fmt.Errorf("%s: %w: the one in %s", w.dir, errOtherPlan, m.File)
	}
	return nil
}

// open opens the folder. What is in it is believed, so it must be this user's alone.
func (w *work) open() (*os.Root, error) {
	if st, err := os.Lstat(w.dir); durable.IsMissing(err) {
		return nil, errNoWork
	} else if err == nil && !st.IsDir() {
		return nil, fmt.Errorf("%s: %w: it is %s, not a folder; move it away, then repeat the command", w.dir, formats.ErrForeign, durable.KindOf(st.Mode()))
	}
	root, err := staging.OpenOwn(w.dir)
	if durable.IsMissing(err) {
		err = errNoWork // it has just been removed
	}
	return root, err
}

// checkFree returns an error if the folder cannot be this plan's. With discard, another plan's is removed.
func (w *work) checkFree(discard bool) error {
	err := w.check()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errOtherPlan) && discard:
		return w.sweep()
	case errors.Is(err, errOtherPlan):
		return inUse(err)
	case !errors.Is(err, errNoWork):
		return err
	}
	entries, _ := os.ReadDir(w.dir)                         // create says why it cannot be read
	left := durable.Exists(filepath.Join(w.dir, sweptName)) // by a sweep that was killed
	for _, e := range entries {
		switch {
		case e.Name() == markerName: // another process has just created it
			return w.checkFree(discard)
		case left && (e.Name() == sweptName || workNames().MatchString(e.Name())):
		case !durable.IsTemporary(e.Name()): // another process may be about to create the marker
			return fmt.Errorf("%s: %w: it has %s; move the folder away, then repeat the command", w.dir, formats.ErrForeign, e.Name())
		}
	}
	if left {
		return w.sweep()
	}
	return nil
}

// inUse adds to an error about the folder of another plan what to do.
func inUse(err error) error {
	return fmt.Errorf("%w: commit its shards first, or add --discard to drop them", err)
}

// createTries bounds how often create begins again while others create or sweep the folder.
const createTries = 20

// create creates the folder, with its marker last. Of several plans that do that at once, one succeeds. isNew says that it
// was not there before.
func (w *work) create(file string) (isNew bool, err error) {
	for try := 1; ; try++ {
		if err := os.Mkdir(w.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		switch err := w.check(); {
		case err == nil:
			return isNew, durable.SyncDir(filepath.Dir(w.dir))
		case errors.Is(err, errOtherPlan):
			return false, inUse(err)
		case !errors.Is(err, errNoWork):
			return false, err
		}
		err := w.mark(marker{Plan: w.id, File: file})
		isNew = err == nil
		lost := errors.Is(err, fs.ErrExist) || durable.IsMissing(err)
		if err != nil && (!lost || try == createTries) {
			return false, err
		}
	}
}

// mark writes the marker. The error is fs.ErrExist if there is one.
func (w *work) mark(m marker) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, markerName)
	err = durable.BuildNew(path, func(f *os.File) error {
		_, err := f.Write(append(b, '\n'))
		return err
	})
	if err == nil || errors.Is(err, fs.ErrExist) || durable.IsMissing(err) {
		return err
	}
	return durable.WriteJSON(path, m) // the file system has no hard links
}

// shard returns the folder of a shard that is complete.
func (w *work) shard(i int) string { return filepath.Join(w.dir, fmt.Sprintf("shard-%05d", i)) }

// newAttempt returns a path for an attempt to pack a shard, which no other one has.
func (w *work) newAttempt(i int) string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // it never fails
	return filepath.Join(w.dir, fmt.Sprintf("try-%05d-%s", i, hex.EncodeToString(random[:])))
}

// remove removes a folder in the folder.
func (w *work) remove(dir string) error {
	root, err := w.open()
	if errors.Is(err, errNoWork) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(root.RemoveAll(filepath.Base(dir)), root.Close())
}

// sweepTries bounds how often sweep begins again while attempts that still run make new files.
const sweepTries = 200

// sweep removes the folder: first the marker, so that no new attempt begins, then shards and attempts, and what shows that
// they are dsconv's. What dsconv did not make stays, and the folder with it.
func (w *work) sweep() error {
	root, err := w.open()
	if errors.Is(err, errNoWork) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Rename(markerName, sweptName); err != nil && !durable.IsMissing(err) {
		return err
	}
	_, err = root.Lstat(sweptName)
	marked := err == nil
	for try := 1; ; try++ {
		err := w.clear(root, marked)
		switch {
		case err == nil || durable.IsMissing(err):
			return durable.SyncDir(filepath.Dir(w.dir))
		case errors.Is(err, formats.ErrForeign) || try == sweepTries:
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// clear removes what is in the folder; only if it was marked, shards and attempts are dsconv's.
func (w *work) clear(root *os.Root, marked bool) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	foreign := ""
	var errs []error
	for _, e := range entries {
		name := e.Name()
		switch {
		case workNames().MatchString(name) && e.IsDir() && marked:
			errs = append(errs, root.RemoveAll(name))
		case durable.IsTemporary(name), strings.HasPrefix(name, ".nfs"):
			errs = append(errs, root.Remove(name))
		case name != markerName && name != sweptName:
			foreign = name
		}
	}
	err = errors.Join(errs...)
	if err == nil && marked {
		if err = root.Remove(sweptName); durable.IsMissing(err) {
			err = nil
		}
	}
	if foreign != "" {
		err = errors.Join(err, fmt.Errorf("%s: %w: it has %s, and was not removed", w.dir, formats.ErrForeign, foreign))
	}
	if err != nil {
		return err
	}
	return os.Remove(w.dir)
}

// unit is the content of a shard's unitName.
type unit struct {
	Plan   string               `json:"plan"` // its ID
	Shard  int                  `json:"shard"`
	Bytes  int64                `json:"bytes"` // of the data file
	Report *convert.ShardReport `json:"report"`
}

// suffixOf returns the suffix of a dataset's files: the one by which their format is known.
func suffixOf(path string) string {
	ext := filepath.Ext(path)
	if strings.EqualFold(ext, ".zst") {
		ext = filepath.Ext(strings.TrimSuffix(path, ext)) + ext
	}
	return ext
}

// dataFile returns the name of the data file of each shard of d.
func (d *Dataset) dataFile() string { return "shard" + suffixOf(d.Path) }

// errMissing is the error of read for a shard that is not there.
var errMissing = errors.New("it is missing")

// read returns what the folder of shard i has, if it is complete: errMissing if it is not there, errOtherPlan, or
// formats.ErrDamaged.
func (w *work) read(i int, d *Dataset) (*unit, error) {
	dir := w.shard(i)
	b, err := unblocked.ReadFile(filepath.Join(dir, unitName))
	switch {
	case durable.IsMissing(err) && !durable.Exists(dir):
		return nil, errMissing
	case durable.IsMissing(err):
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, formats.ErrDamaged, unitName)
	case err != nil:
		return nil, err
	}
	u := &unit{}
	if err := json.Unmarshal(b, u); err != nil || u.Report == nil {
		return nil, fmt.Errorf("%s: %w: its %s cannot be read", dir, formats.ErrDamaged, unitName)
	}
	if u.Plan != w.id {
		return nil, fmt.Errorf("%s: %w", dir, errOtherPlan)
	}
	st, err := os.Stat(filepath.Join(dir, d.dataFile()))
	switch {
	case durable.IsMissing(err):
		return nil, fmt.Errorf("%s: %w: its data file is missing", dir, formats.ErrDamaged)
	case err != nil:
		return nil, err
	case st.Size() != u.Bytes:
		return nil, fmt.Errorf("%s: %w: its data file has %d bytes, and had %d", dir, formats.ErrDamaged, st.Size(), u.Bytes)
	}
	return u, nil
}

// setAside makes a shard that is packed again an attempt, which Commit removes.
func (w *work) setAside(i int) error {
	err := os.Rename(w.shard(i), w.newAttempt(i))
	if durable.IsMissing(err) {
		return nil
	}
	return err
}
