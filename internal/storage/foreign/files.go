package foreign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// state tells apart the contents that a file has had.
type state struct {
	size, modTime, changeTime int64
	device, inode             uint64
}

// stateOf returns the state of the file at path.
func stateOf(path string) (s state, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return state{
		size: st.Size, modTime: st.Mtim.Nano(), changeTime: st.Ctim.Nano(), device: uint64(st.Dev), inode: st.Ino, //nolint:unconvert // it is an int32 on other systems
	}, nil
}

// id identifies the samples of the files in their states, as s reads them.
func (s *Source) id(states []state) sampleindex.ID {
	parts := [][]byte{[]byte("foreign"), fmt.Append(nil, cacheVersion, " ", s.Format, " ", s.Version), fmt.Append(nil, s.Options.Recipe()), s.Extra}
	for k, f := range s.Files {
		parts = append(parts, []byte(f.Name), fmt.Append(nil, states[k]))
	}
	return sampleindex.NewID(parts...)
}

// openFiles maps the files. They are in those states now.
func (s *Source) openFiles() (files []*mapped.Mapping, states []state, err error) {
	for _, f := range s.Files {
		was, err := stateOf(f.Path)
		if err != nil {
			return nil, nil, errors.Join(err, closeFiles(files))
		}
		m, err := mapped.Map(f.Path)
		if err != nil {
			return nil, nil, errors.Join(err, closeFiles(files))
		}
		files, states = append(files, m), append(states, was)
		if now, err := stateOf(f.Path); err != nil || now != was || int64(len(m.Data)) != was.size {
			return nil, nil, errors.Join(changed(f.Path), err, closeFiles(files))
		}
	}
	return files, states, nil
}

func closeFiles(files []*mapped.Mapping) (err error) {
	for _, m := range files {
		err = errors.Join(err, m.Close())
	}
	return err
}

func changed(path string) error {
	return fmt.Errorf("%s: %w: it has changed since the dataset was opened: open it again", path, formats.ErrDamaged)
}

// checkAll returns an error if a file is not in the state it was in.
func (s *Source) checkAll(states []state) error {
	for k, f := range s.Files {
		if now, err := stateOf(f.Path); err != nil || now != states[k] {
			return errors.Join(changed(f.Path), err)
		}
	}
	return nil
}

// isChanged reports whether the file at path, which was in that state, was written to. A file that was
// replaced or removed is not: the memory is still that of the file that was opened.
func (s *state) isChanged(path string) bool {
	now, err := stateOf(path)
	return err == nil && now.device == s.device && now.inode == s.inode && (now.size != s.size || now.modTime != s.modTime)
}

// tick is longer than what a file system's clock takes from one time to the next.
const tick = 20 * time.Millisecond

// settle waits until a file that is written to from now on has another time.
func settle(ctx context.Context, states []state) error {
	newest := int64(0)
	for _, s := range states {
		newest = max(newest, s.modTime)
	}
	age := time.Since(time.Unix(0, newest))
	if age < 0 || age >= tick {
		return nil
	}
	t := time.NewTimer(tick - age)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
