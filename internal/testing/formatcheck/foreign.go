package formatcheck

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// foreignFormat is a format of another program's datasets.
type foreignFormat interface {
	formats.Format
	formats.OptionsOpener
}

// OpenForeign opens the dataset of another program at path, which the format must match, with a map as users write
// it. Its index is in a cache of its own, and it is closed when the test ends.
func OpenForeign(t testing.TB, f foreignFormat, path, entries string) (formats.Dataset, error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	m, err := formats.ParseMap(entries)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Match(path) {
		t.Errorf("%s does not match", path)
	}
	ds, err := f.OpenWith(t.Context(), path, formats.ReadOptions{Map: m})
	if err == nil {
		t.Cleanup(func() {
			if err := ds.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return ds, err
}

// EachSample calls use with each sample of ds, and checks that Info says of it what Read reads, and that View, if ds
// is a Viewer, lends the same values.
func EachSample(t testing.TB, ds formats.Dataset, use func(in formats.Info, s *formats.Sample)) {
	t.Helper()
	for i := range ds.Len() {
		var s formats.Sample
		in, err := ds.Info(i)
		if err := errors.Join(err, ds.Read(i, &s)); err != nil {
			t.Fatal(err)
		}
		if err := lendsTheSame(ds, i, &s); err != nil {
			t.Errorf("sample %d: %v", i, err)
		}
		if image := &s.Values[0]; in.Key != s.Key || in.Split != s.Split || in.Size != int64(len(image.Data)) || in.Encoding != image.Encoding {
			t.Errorf("sample %d: Info has %d bytes of %s, Read %d of %s", i, in.Size, in.Encoding, len(image.Data), image.Encoding)
		}
		use(in, &s)
	}
}

func lendsTheSame(ds formats.Dataset, i int, s *formats.Sample) error {
	viewer, ok := ds.(formats.Viewer)
	if !ok {
		return nil
	}
	var lent formats.Sample
	if err := viewer.View(i, &lent); err != nil {
		return err
	}
	for k := range s.Values {
		if a, b := s.Values[k], lent.Values[k]; string(a.Data) != string(b.Data) || a.Encoding != b.Encoding || !slices.Equal(a.Shape, b.Shape) {
			return fmt.Errorf("field %d: Read and View differ", k)
		}
	}
	return nil
}

// ValueText shows a value: a number, a text, or an array with its element type, shape and bytes.
func ValueText(v *formats.Value) string {
	if x, ok := v.Float32(); ok && len(v.Shape) == 0 {
		if math.IsNaN(float64(x)) {
			return "nan"
		}
		return fmt.Sprint(x)
	}
	if v.Encoding == formats.Raw {
		return fmt.Sprintf("%s%v%s", v.DType, v.Shape, hex.EncodeToString(v.Data))
	}
	return string(v.Data)
}

// SchemaText shows the fields: name, kind, and the element type and shape of arrays.
func SchemaText(s formats.Schema) string {
	var list []string
	for _, f := range s {
		text := f.Name + ":" + string(f.Kind)
		if f.DType != "" {
			text += fmt.Sprintf("/%s%v", f.DType, f.Shape)
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// ReadIn calls read in a new folder with the files, which has the user's cache too. It prints what fails, for examples
// of formats that make an index.
func ReadIn(files map[string][]byte, read func(context.Context) error) {
	if err := readIn(files, read); err != nil {
		fmt.Println(err)
	}
}

func readIn(files map[string][]byte, read func(context.Context) error) (err error) {
	dir, err := os.MkdirTemp("", "dsconv-example")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	was, err := os.Getwd()
	if err != nil {
		return err
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	defer func() { err = errors.Join(err, os.Setenv("XDG_CACHE_HOME", cache), os.Chdir(was)) }()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			return err
		}
	}
	return errors.Join(os.Setenv("XDG_CACHE_HOME", dir), os.Chdir(dir), read(context.Background()))
}
