// Command written completes an archive of datasets (see README.md): it writes, into the folder
// that it is given, datasets with extra fields of every kind, which no command writes, and
// expected.json, what this version reads from every dataset there.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

func main() {
	log.SetFlags(0)
	if err := complete(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func complete(root string) error {
	if err := os.MkdirAll(filepath.Join(root, "fields"), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"x.lmdb", "x.h5", "x.tar", "x.tfrecord"} {
		if err := writeFields(filepath.Join(root, "fields", name)); err != nil {
			return err
		}
	}
	return describeAll(root)
}

func writeFields(path string) (err error) {
	f, err := dsconv.Formats().ByPath(path)
	if err != nil {
		return err
	}
	w, err := f.(formats.WritableFormat).Create(path, formats.Meta{
		Version: formats.Version, Format: f.Name(), Schema: schema(), Columns: []string{"camera"}, Recipe: map[string]string{"encode": "keep"},
	}, formats.CreateOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for i := range 9 {
		s, err := sample(i)
		if err != nil {
			return err
		}
		if err := w.Write(s); err != nil {
			return err
		}
	}
	return w.Commit()
}

func schema() formats.Schema {
	return formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"ant", "bee, wild", "жук"}},
		{Name: "right", Kind: formats.Image},
		{Name: "mask", Kind: formats.Mask},
		{Name: "boxes", Kind: formats.Boxes, DType: formats.Float32, Shape: []int{-1, 4}},
		{Name: "weather", Kind: formats.Label, Classes: []string{"sun", "rain"}},
		{Name: "tags", Kind: formats.MultiHot, Classes: []string{"a", "b", "c"}},
		{Name: "pose", Kind: formats.Array, DType: formats.Float32, Shape: []int{2, 2}},
		{Name: "points", Kind: formats.Array, DType: formats.Int64, Shape: []int{-1, 2}},
		{Name: "hist", Kind: formats.Array, DType: formats.Uint16, Shape: []int{-1}},
		{Name: "caption", Kind: formats.Text},
		{Name: "extra", Kind: formats.JSON},
		{Name: "blob", Kind: formats.Bytes},
	}
}

func sample(i int) (*formats.Sample, error) {
	left, errLeft := picture(i, 12, 16, formats.JPEG)
	right, errRight := picture(i+100, 10, 8, formats.PNG)
	mask, errMask := picture(i+200, 12, 16, formats.PNG)
	if err := errors.Join(errLeft, errRight, errMask); err != nil {
		return nil, err
	}
	s := &formats.Sample{
		Key: fmt.Sprintf("part.%d/scene %02d", i/5, i), Split: []string{"train", "val", ""}[i%3], Columns: []string{fmt.Sprintf("cam, %d", i)},
		Values: []formats.Value{
			left, scalar(int64(i%4) - 1), right, mask, floats([]int{i % 3, 4}), scalar(int64(i % 2)),
			{Data: []byte{byte(i & 1), 1, 0}, Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{3}},
			floats([]int{2, 2}),
			{Data: make([]byte, 16*(i%3)), Encoding: formats.Raw, DType: formats.Int64, Shape: []int{i % 3, 2}},
			{Data: bytes.Repeat([]byte{byte(i), 1}, i), Encoding: formats.Raw, DType: formats.Uint16, Shape: []int{i}},
			plain([]string{"", "two cats, one \"table\"", "zwei\nZeilen"}[i%3]), plain(fmt.Sprintf(`{"n":%d}`, i)), plain(strings.Repeat("\x00\xff", i*300)),
		},
	}
	s.Source = formats.Source{Path: s.Key + ".jpg", Size: int64(len(left.Data)), ModTime: 1_700_000_000_000_000_000, Hash: checksum.Hash(left.Data)}
	s.Checksum = checksum.SampleChecksum(schema(), s)
	return s, nil
}

func picture(seed, h, w int, e formats.Encoding) (formats.Value, error) {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(seed*37 + i*i)
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	if e == formats.JPEG {
		b.Reset()
		err = jpeg.Encode(&b, img, nil)
	}
	return formats.Value{Data: b.Bytes(), Encoding: e, DType: formats.Uint8, Shape: []int{h, w, 1}}, err
}

func scalar(x int64) (v formats.Value) {
	v.SetInt64(x)
	return v
}

func plain(s string) formats.Value { return formats.Value{Data: []byte(s), Encoding: formats.Plain} }

func floats(shape []int) formats.Value {
	v := formats.Value{Encoding: formats.Raw, DType: formats.Float32, Shape: shape}
	for i := range shape[0] * shape[1] {
		v.Data = binary.LittleEndian.AppendUint32(v.Data, math.Float32bits(float32(i)/2))
	}
	return v
}

// describeAll writes expected.json: path to formatcheck.Description.
func describeAll(root string) error {
	expected := map[string]formatcheck.Description{}
	folders, err := filepath.Glob(filepath.Join(root, "*/"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		for _, name := range []string{"x.lmdb", "x.h5", "x.tar", "x.tar.zst", "x.tfrecord", "three-%03d.tar", "three-%03d.tfrecord"} {
			path := filepath.Join(folder, name)
			ds, err := dsconv.Formats().Open(path)
			if errors.Is(err, formats.ErrNotDataset) || errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			d, err := formatcheck.Describe(ds)
			if err := errors.Join(err, ds.Close()); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			expected[filepath.Base(folder)+"/"+name] = d
		}
	}
	b, err := json.MarshalIndent(expected, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "expected.json"), b, 0o644)
}
