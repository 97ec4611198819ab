package conformance

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// truncatedWhileOpen: if files are truncated while they are open, at any byte of a page, each sample
// is an error or what was written. The missing bytes of a file's last page read as zeros.
func (s suite) truncatedWhileOpen(t *testing.T) {
	for _, name := range []string{"stereo", "every kind", "raw uint8 uniform", "raw uint16 varying"} {
		c := kindSets()[name]
		t.Run(name, func(t *testing.T) {
			path := s.write(t, c)
			dir := filepath.Dir(path)
			files := formatcheck.Tree(t, dir)
			for _, file := range slices.Sorted(maps.Keys(files)) {
				content := []byte(files[file])
				for tenth := range 10 {
					n := len(content) * tenth / 10
					s.viewTruncated(t, path, c, filepath.Join(dir, file), n)
					overwrite(t, filepath.Join(dir, file), content)
				}
			}
		})
	}
}

// viewTruncated opens the dataset, truncates the file to n bytes and views all samples.
func (s suite) viewTruncated(t *testing.T, path string, c set, file string, n int) {
	t.Helper()
	ds, err := s.format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	v, ok := ds.(formats.Viewer)
	if !ok {
		t.Skip("not a Viewer")
	}
	if err := os.Truncate(file, int64(n)); err != nil {
		t.Fatal(err)
	}
	for i, want := range c.inKeyOrder() {
		var smp formats.Sample
		wrong := ""
		err := guard.Do(func() error {
			return guard.Use(&smp, func() error {
				if err := v.View(i, &smp); err != nil {
					return err
				}
				wrong = differ(c.schema, &smp, want)
				return guard.SampleShortened(&smp)
			})
		})
		if err == nil && wrong != "" {
			t.Errorf("%s cut to %d bytes: %s", filepath.Base(file), n, wrong)
		}
	}
}
