package bench

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench/internal/pagecache"
	"github.com/dsconv/dsconv/convert"
)

func TestCold(t *testing.T) {
	dir := t.TempDir()
	folder, packed := filepath.Join(dir, "images"), filepath.Join(dir, "out.tar")
	makeImages(t, folder)
	if _, err := dsconv.Pack(t.Context(), folder, packed, dsconv.Options{}); err != nil {
		t.Fatal(err)
	}
	o := small()
	o.Cold, o.Rounds = true, 2
	o.Delay.Read = 2 * time.Millisecond // of images that take a few microseconds not all are timed
	r, err := Run(t.Context(), []string{folder, packed}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Datasets {
		var names []string
		for _, g := range d.Rungs {
			names = append(names, g.Name)
		}
		if !slices.Equal(names, []string{storedCold, stored}) {
			t.Fatalf("%s: rungs %v", d.Path, names)
		}
		switch cold := d.Rungs[0]; {
		case cold.Note != "":
			if cold.EpochSeconds != 0 || d.Costs.ColdRead != 0 || !strings.HasPrefix(cold.Note, "not measured: ") {
				t.Errorf("%s: %+v, %+v", d.Path, cold, d.Costs)
			}
			t.Logf("%s: %s", d.Path, cold.Note)
		case cold.EpochSeconds <= 0 || d.Costs.ColdRead <= 0:
			t.Errorf("%s: %+v, %+v", d.Path, cold, d.Costs)
		}
	}
}

// The files of a dataset are those of its images, and all of a packed dataset's.
func TestFilesOf(t *testing.T) {
	dir := t.TempDir()
	folder, packed := filepath.Join(dir, "images"), filepath.Join(dir, "out-%03d.tar")
	makeImages(t, folder)
	if _, err := dsconv.Pack(t.Context(), folder, packed, dsconv.Options{Options: convert.Options{Shards: convert.Sharding{Min: 2}}}); err != nil {
		t.Fatal(err)
	}
	for path, least := range map[string]int{folder: 12, packed: 2} {
		ds, err := openAny(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filesOf(path, ds)
		if err != nil || len(files) < least {
			t.Errorf("%s: files %v, %v", path, files, err)
		}
		for _, file := range files {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
		if err := ds.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhyWarm(t *testing.T) {
	for _, c := range []struct {
		left float64
		err  error
		want string
	}{
		{0, nil, ""},
		{0.01, nil, ""},
		{0.6, nil, "60 % of the files stays in memory"},
		{1, pagecache.ErrUnknown, "does not tell this user"},
		{1, errors.New("no such file"), "no such file"},
	} {
		if got := whyWarm(c.left, c.err); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%g left, %v: %q, want %q", c.left, c.err, got, c.want)
		}
	}
}

// makeImages writes 12 images.
func makeImages(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "class"), 0o755); err != nil {
		t.Fatal(err)
	}
	m := image.NewRGBA(image.Rect(0, 0, 12, 10))
	for k := range 12 {
		m.Set(k, 0, color.RGBA{R: 255, A: 255})
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "class", fmt.Sprintf("%02d.png", k)), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
