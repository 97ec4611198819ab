package atrest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
)

// Single is the Stage of a dataset that is one file or one folder, as Shards is that of
// many files. A format's Writer stands on it. It belongs to one goroutine.
type Single struct {
	*Stage
	path      string
	checkOurs CheckOurs
	failed    error
}

// Ours says why what lies at path is not dsconv's and so must not be replaced.
type CheckOurs func(path string) error

// Start makes the format's Writer as of the stage's last checkpoint, or an empty one.
type StartWriter func(s *Single) (formats.Writer, error)

// CreateSingle is Create of a WritableFormat.
func CreateSingle(path string, m formats.Meta, o formats.CreateOptions, ours CheckOurs, start StartWriter) (formats.Writer, error) {
	s := &Single{path: filepath.Clean(path), checkOurs: ours}
	if _, err := s.existing(); err != nil {
		return nil, err
	}
	var err error
	if s.Stage, err = CreateStage(s.path, s.path, m, o.Replace); err != nil {
		return nil, err
	}
	return start(s)
}

// ResumeSingle is Resume of a WritableFormat.
func ResumeSingle(path string, ours CheckOurs, start StartWriter) (formats.Writer, formats.Meta, []byte, error) {
	s := &Single{path: filepath.Clean(path), checkOurs: ours}
	var err error
	if s.Stage, err = ResumeStage(s.path); err != nil {
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
		return nil, nil //nolint:nilerr // nothing is there, or making it says what is wrong
	}
	if st.Mode()&os.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: %w: it is a symbolic link; give the path that it leads to", s.path, errForeign)
	}
	if err := s.checkOurs(s.path); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", s.path, errForeign, err)
	}
	return []string{s.path}, nil
}

// Put is Write of the format's Writer. check says what else than CheckSample the format
// refuses; put stores the values and is a step of Do.
func (s *Single) Put(smp *formats.Sample, check, put func(smp *formats.Sample) error) error {
	if s.failed != nil {
		return s.failed
	}
	if err := s.CheckSample(smp, true); err != nil {
		return err
	}
	if err := check(smp); err != nil {
		return fmt.Errorf("key %q: %w", smp.Key, err)
	}
	if err := s.Add(smp, Location{}); err != nil {
		return err
	}
	s.failed = put(smp)
	return s.failed
}

// Do takes a step of writing that, if it fails, leaves the files in a state that only
// Close and Resume can go on from: from then on Do takes no step and gives that error.
func (s *Single) Do(step func() error) error {
	if s.failed == nil {
		s.failed = step()
	}
	return s.failed
}

// Finish publishes a file or folder of the stage as the dataset.
func (s *Single) Finish(path string) error {
	old, err := s.existing()
	if err != nil {
		return err
	}
	return s.Publish(old, []Move{{From: path, To: s.path}})
}
