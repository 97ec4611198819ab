package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// Real photos are packed into every format and unpacked with the same bytes.
func TestPhotosComeBack(t *testing.T) {
	photos := os.Getenv("DSCONV_PHOTOS")
	if photos == "" {
		t.Skip("DSCONV_PHOTOS is not set")
	}
	want := formatcheck.Tree(t, photos)
	for name := range want {
		if !strings.HasSuffix(name, ".jpg") {
			delete(want, name)
		}
	}
	for _, name := range append(outputsOf(), "out.tar.zst") {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if code, said := packTo(t, photos, filepath.Join(dir, name)); code != exitDone {
				t.Fatalf("pack: exit code %d: %s", code, said)
			}
			for _, args := range [][]string{{"verify", filepath.Join(dir, name)}, {"unpack", filepath.Join(dir, name), filepath.Join(dir, "back")}} {
				var said bytes.Buffer
				if code := run(context.Background(), append([]string{"dsconv"}, args...), &console{out: &said, err: &said}); code != exitDone {
					t.Fatalf("%s: exit code %d: %s", args[0], code, said.String())
				}
			}
			formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Join(dir, "back")), want)
		})
	}
}
