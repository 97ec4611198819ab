package dsconv_test

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

const (
	npyHead = "\x93NUMPY\x01\x00\x76\x00%-117s\n"
	latin1  = "gr\xf6\xdfer"
)

// valuesOf is what sample i of the sources of TestValuesOfOtherPrograms has: one has no JSON, one no UTF-8, one half an array.
func valuesOf(i int) (text, json, npy string) {
	text, json = fmt.Sprint("größer ", i), fmt.Sprintf(`{"i": %d, "x": NaN}`, i)
	npy = fmt.Sprintf(npyHead, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }") + strings.Repeat("\x00", 16)
	switch i {
	case 1:
		text = latin1
	case 2:
		json = `{"i": `
	case 3:
		npy = npy[:len(npy)-3]
	}
	return text, json, npy
}

const valueSamples = 8

func webDatasetOfValues(t *testing.T, picture string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range valueSamples {
		text, json, npy := valuesOf(i)
		for _, m := range [][2]string{{"png", picture}, {"txt", text}, {"json", json}, {"npy", npy}} {
			check(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("k%d.%s", i, m[0]), Mode: 0o644, Size: int64(len(m[1]))}))
			_, err := w.Write([]byte(m[1]))
			check(t, err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.tar")
	check(t, errors.Join(w.Close(), os.WriteFile(path, b.Bytes(), 0o600)))
	return path
}

func mdsOfValues(t *testing.T, picture string) string {
	t.Helper()
	number := binary.LittleEndian.AppendUint32
	var body []byte
	offsets := number(nil, valueSamples)
	for i := range valueSamples {
		offsets = number(offsets, uint32(4+4*(valueSamples+1)+len(body)))
		text, json, npy := valuesOf(i)
		array := "\x41\x04\x02" + npy[128:] // int64, one dimension of one byte, its size
		values := []string{array, picture, json, text}
		for _, v := range values {
			body = number(body, uint32(len(v)))
		}
		body = append(body, strings.Join(values, "")...)
	}
	offsets = number(offsets, uint32(4+4*(valueSamples+1)+len(body)))
	dir, data := t.TempDir(), slices.Concat(offsets, body)
	index := fmt.Sprintf(`{"version": 2, "shards": [{"column_encodings": ["ndarray", "png", "json", "str"], "column_names": ["array", "image", "meta", "text"],
		"column_sizes": [null, null, null, null], "compression": null, "format": "mds", "hashes": [], "raw_data": {"basename": "shard.00000.mds", "bytes": %d, "hashes": {}},
		"samples": %d, "size_limit": 67108864, "version": 2, "zip_data": null}]}`, len(data), valueSamples)
	check(t, errors.Join(os.WriteFile(filepath.Join(dir, "index.json"), []byte(index), 0o600), os.WriteFile(filepath.Join(dir, "shard.00000.mds"), data, 0o600)))
	return dir
}

func parquetOfValues(t *testing.T, picture string) string {
	t.Helper()
	type cell struct {
		Bytes []byte `parquet:"bytes,plain"`
		Path  string `parquet:"path,plain"`
	}
	type row struct {
		Image cell   `parquet:"image"`
		Text  string `parquet:"text,plain"`
	}
	rows := make([]row, valueSamples)
	for i := range rows {
		text, _, _ := valuesOf(i)
		rows[i] = row{cell{[]byte(picture), ""}, text}
	}
	var b bytes.Buffer
	path := filepath.Join(t.TempDir(), "train.parquet")
	check(t, errors.Join(parquet.Write(&b, rows), os.WriteFile(path, b.Bytes(), 0o600)))
	return path
}

// TestValuesOfOtherPrograms: a text, JSON or array that is none is the fault of its sample, as in a folder: a pack skips it and
// says why, and a Loader that gives the field does what OnError says, and names the key.
func TestValuesOfOtherPrograms(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var b bytes.Buffer
	check(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))))
	const text, json, array = "not UTF-8 text", "not JSON", "array"
	for name, c := range map[string]struct {
		path string
		bad  []string // of the samples 1, 2, ...
	}{
		"WebDataset": {webDatasetOfValues(t, b.String()), []string{text, json, "npy"}},
		"MDS":        {mdsOfValues(t, b.String()), []string{text, json, array}},
		"Parquet":    {parquetOfValues(t, b.String()), []string{text}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := dsconv.Pack(t.Context(), c.path, filepath.Join(t.TempDir(), "x.lmdb"), dsconv.Options{})
			check(t, err)
			skipped := r.Datasets[0].Skipped
			if len(skipped) != len(c.bad) || r.Datasets[0].Written != valueSamples-len(c.bad) {
				t.Fatalf("%d written, skipped %q", r.Datasets[0].Written, skipped)
			}
			for k, why := range c.bad {
				if !slices.ContainsFunc(skipped, func(p convert.Problem) bool {
					return strings.Contains(p.Path, fmt.Sprint(k+1)) && strings.Contains(p.Cause, why)
				}) {
					t.Errorf("skipped %q, want %d for %s", skipped, k+1, why)
				}
			}
			loadedValues(t, c.path, len(c.bad))
		})
	}
}

func loadedValues(t *testing.T, path string, bad int) {
	ds, err := dsconv.Open(path)
	check(t, err)
	defer ds.Close()
	var fields []string
	for _, f := range ds.Meta().Schema {
		if f.Kind == formats.Text || f.Kind == formats.JSON || f.Kind == formats.Array {
			fields = append(fields, f.Name)
		}
	}
	for _, onError := range []reader.OnError{reader.Skip, reader.Fail} {
		l, err := reader.New(ds, reader.Config{BatchSize: valueSamples, Fields: fields, OnError: onError})
		check(t, err)
		for b, err := range l.Epoch(t.Context(), 0) {
			switch {
			case onError == reader.Fail && (!errors.Is(err, reader.ErrBadSample) || !strings.Contains(err.Error(), "1: field ")):
				t.Errorf("%s: %v", onError, err)
			case onError == reader.Skip && (err != nil || b.N != valueSamples-bad):
				t.Errorf("%s: %v", onError, err)
			}
		}
		check(t, l.Close())
	}
}
