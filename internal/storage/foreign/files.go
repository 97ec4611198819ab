package foreign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// id identifies the samples of the files in their states, as s reads them.
func (s *Source) id(states []filestate.State) sampleindex.ID {
	parts := [][]byte{[]byte("foreign"), fmt.Append(nil, cacheVersion, " ", s.Format, " ", s.Version), fmt.Append(nil, s.Options.Recipe()), s.Extra}
	for k, f := range s.Files {
		parts = append(parts, []byte(f.Name), fmt.Append(nil, states[k].Identity()))
	}
	return sampleindex.NewID(parts...)
}

// openFiles maps the files. They are in those states now.
func (s *Source) openFiles() (files []*mapped.Mapping, states []filestate.State, err error) {
	for _, f := range s.Files {
		was, err := filestate.Of(f.Path)
		if err != nil {
			return nil, nil, errors.Join(err, closeFiles(files))
		}
		m, err := mapped.Map(f.Path)
		if err != nil {
			return nil, nil, errors.Join(err, closeFiles(files))
		}
		files, states = append(files, m), append(states, was)
		if now, err := filestate.Of(f.Path); err != nil || now != was || int64(len(m.Data)) != was.Size() {
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
	return fmt.Errorf("%s: %w", path, formats.ErrChanged)
}

// checkAll returns an error if a file is not in the state it was in.
func (s *Source) checkAll(states []filestate.State) error {
	for k, f := range s.Files {
		if now, err := filestate.Of(f.Path); err != nil || now != states[k] {
			return errors.Join(changed(f.Path), err)
		}
	}
	return nil
}

// tick is longer than what a file system's clock takes from one time to the next.
const tick = 20 * time.Millisecond

// settle waits until a file that is written to from now on has another time.
func settle(ctx context.Context, states []filestate.State) error {
	newest := int64(0)
	for _, s := range states {
		newest = max(newest, s.Identity().ModTime)
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
