package staging

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// Single is the Stage of a dataset that is one file or one folder; Shards is that of many
// files. A format builds its Writer on it. It belongs to one goroutine.
type Single struct {
	*Stage
	path      string
	checkOurs CheckOurs
	failed    error
}

// CheckOurs reports why the file or folder at path is not dsconv's and must not be replaced.
type CheckOurs func(path string) error

// StartWriter returns the format's Writer, as of the last checkpoint or empty.
type StartWriter func(s *Single) (formats.Writer, error)

// CreateSingle implements Create of a WritableFormat.
func CreateSingle(path string, m formats.Meta, o formats.CreateOptions, ours CheckOurs, start StartWriter) (formats.Writer, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	if o.Zstd != 0 {
		return nil, fmt.Errorf("%s: the files of this format cannot be compressed with zstd; leave the level out", path)
	}
	s := &Single{path: filepath.Clean(path), checkOurs: ours}
	if _, err := s.existing(); err != nil {
		return nil, err
	}
	var err error
	if s.Stage, err = createStage(s.path, s.path, m, o); err != nil {
		return nil, err
	}
	return start(s)
}

// ResumeSingle implements Resume of a WritableFormat.
func ResumeSingle(path string, o formats.CreateOptions, ours CheckOurs, start StartWriter) (formats.Writer, formats.Meta, []byte, error) {
	if err := formats.CheckPath(path); err != nil {
		return nil, formats.Meta{}, nil, err
	}
	s := &Single{path: filepath.Clean(path), checkOurs: ours}
	var err error
	if s.Stage, err = resumeStage(s.path, o); err != nil {
		return nil, formats.Meta{}, nil, err
	}
	w, err := start(s)
	if err != nil {
		return nil, formats.Meta{}, nil, err
	}
	return w, s.Meta, s.Note, nil
}

// existing lists what the dataset would replace.
func (s *Single) existing() ([]string, error) {
	st, err := os.Lstat(s.path)
	if err != nil {
		return nil, nil //nolint:nilerr // nothing exists, or creating it reports what is wrong
	}
	if st.Mode()&os.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: %w: it is a symbolic link; give the path that it points to", s.path, sharded.ErrForeign)
	}
	if err := s.checkOurs(s.path); err != nil {
		return nil, fmt.Errorf("%s: %w; choose another path: %w", s.path, sharded.ErrForeign, err)
	}
	return []string{s.path}, nil
}

// Put implements Write of the format's Writer. check rejects samples for reasons of the format,
// in addition to CheckSample; put stores the values and is a step like those of Do.
func (s *Single) Put(smp *formats.Sample, check, put func(smp *formats.Sample) error) error {
	if err := s.CheckSample(smp, true); err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed
	}
	if err := check(smp); err != nil {
		return fmt.Errorf("key %q: %w", smp.Key, err)
	}
	if err := s.Add(smp, sampleindex.Location{}); err != nil {
		return err
	}
	s.failed = put(smp)
	return s.failed
}

// Do runs a step of writing. If a step fails, the files are in a state from which only Close
// and Resume work: Do then runs no more steps and returns the first error.
func (s *Single) Do(step func() error) error {
	if err := s.CheckOpen(); err != nil {
		return err
	}
	if s.failed == nil {
		s.failed = step()
	}
	return s.failed
}

// Save is Stage.Save for a format whose steps run by Do.
func (s *Single) Save(note []byte, values func(b []byte, key string) ([]byte, error)) error {
	if s.failed != nil {
		return s.failed
	}
	return s.save(note, values)
}

// Finish publishes a file or folder of the staging folder as the dataset.
func (s *Single) Finish(path string) error {
	old, err := s.existing()
	if err != nil {
		return err
	}
	return s.startPublishing(old, []step{{From: path, To: s.path}})
}
