package staging

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// The room that a kept version takes is that of files which the dataset does not have too.
func TestKeptBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x.tar.old")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, previousNoteName), []byte(`{"dsconv_kept":"x.tar"}`), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "x.tar"), make([]byte, 1000), 0o644))
	k, err := FindPrevious(filepath.Join(filepath.Dir(dir), "x.tar"))
	must(t, err)
	alone, err := k.Bytes()
	must(t, err)
	must(t, os.Link(filepath.Join(dir, "x.tar"), filepath.Join(filepath.Dir(dir), "x.tar")))
	shared, err := k.Bytes()
	must(t, err)
	if alone-shared != 1000 {
		t.Errorf("%d bytes alone, %d shared", alone, shared)
	}
	for _, text := range []string{"", "{}", `{"dsconv_kept":"../x.tar"}`, `{"dsconv_kept":".."}`, `{"dsconv_kept":"%d%d"}`} {
		must(t, os.WriteFile(filepath.Join(dir, previousNoteName), []byte(text), 0o644))
		if _, err := FindPrevious(filepath.Join(filepath.Dir(dir), "x.tar")); !errors.Is(err, formats.ErrForeign) {
			t.Errorf("a note of %q: %v", text, err)
		}
	}
}
