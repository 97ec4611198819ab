package imagelmdb

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/pickle"
	"github.com/dsconv/dsconv/internal/storage/foreign"
)

// kind is what the values are.
type kind int

const (
	imageFiles kind = iota
	arrays
	pickles
	datums
)

// layout is how samples are stored.
type layout struct {
	kind         kind
	image, label string // of the map; "" for the usual
	reversed     bool   // pixels are blue, green, red
	labels       labelForm
	folders      bool   // the class is the key's folder
	above        string // what keys that are absolute paths begin with: the folders that say nothing
	texts        bool   // keys are image-N, and label-N has a text
	schema       formats.Schema
}

const (
	imagePrefix = "image-"
	labelPrefix = "label-"
)

// counts are the keys that say how many samples there are; others that begin with "__" are no samples either.
var counts = []string{"__len__", "length", "num-samples", "num_samples"}

// isSample reports whether a key is that of a sample.
func (l *layout) isSample(key []byte) bool {
	k := string(key)
	if strings.HasPrefix(k, "__") || slices.Contains(counts, k) {
		return false
	}
	return !l.texts || strings.HasPrefix(k, imagePrefix)
}

// example is one of the first samples.
type example struct{ key, value []byte }

// newLayout judges by the first samples.
func newLayout(list []example, m map[string]string) (*layout, error) {
	l := &layout{image: m["image"], label: m["label"]}
	for field := range m {
		if field != "image" && field != "label" {
			return nil, fmt.Errorf("%w: the map has the field %q; an LMDB has image and label", formats.ErrSchema, field)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: it has no samples", formats.ErrNotDataset)
	}
	first, err := l.findKind(list)
	if err != nil {
		return nil, err
	}
	if err := l.checkMap(first.value); err != nil {
		return nil, err
	}
	l.schema = formats.Schema{{Name: "image", Kind: formats.Image}}
	l.folders = (l.kind == imageFiles || l.kind == arrays) && !slices.ContainsFunc(list, func(e example) bool { return !bytes.Contains(e.key, []byte("/")) })
	if l.folders {
		l.labels = names
	}
	if err := l.findLabels(list); err != nil {
		return nil, err
	}
	switch l.labels {
	case noLabel:
	case floats:
		l.schema = append(l.schema, formats.Field{Name: "label", Kind: formats.Number, DType: formats.Float32})
	default:
		l.schema = append(l.schema, formats.Field{Name: "label", Kind: formats.Label})
	}
	return l, nil
}

// findKind sets the kind to that of the first value that has one, and returns that sample.
func (l *layout) findKind(list []example) (first example, err error) {
	for _, e := range list {
		k, failed := kindOf(e.value)
		if failed == nil {
			l.kind = k
			return e, nil
		}
		if err == nil {
			err = fmt.Errorf("the value of key %q: %w", e.key, failed)
		}
	}
	return first, err
}

// findLabels sets what the labels are. It is an error if half of the samples cannot be read; the scan skips fewer.
func (l *layout) findLabels(list []example) error {
	var first error
	bad := 0
	for _, e := range list {
		it, err := l.decode(e.value)
		if err != nil {
			bad++
			first = cmp.Or(first, fmt.Errorf("the value of key %q: %w", e.key, err))
			continue
		}
		l.labels = max(l.labels, it.has)
	}
	if 2*bad >= len(list) {
		return first
	}
	return nil
}

// withTexts makes the layout that of images and texts in pairs of keys.
func (l *layout) withTexts() {
	l.texts = true
	l.schema = append(l.schema, formats.Field{Name: "text", Kind: formats.Text})
}

// checkMap compares the map with the kind of the values.
func (l *layout) checkMap(value []byte) error {
	switch {
	case l.kind == datums:
		d, err := parseDatum(value)
		if err != nil {
			return err
		}
		l.reversed = l.image == "bgr"
		if l.label != "" || l.image != "" && l.image != "bgr" && l.image != "rgb" {
			return fmt.Errorf("%w: the values are Datums of Caffe: the map can be image=bgr or image=rgb", formats.ErrSchema)
		}
		if l.image == "" && !d.encoded && d.shape[0] == 3 {
			return fmt.Errorf("%w: Datums of Caffe do not say whether their pixels are blue, green, red, as convert_imageset writes them, or red, green, blue: "+
				"give the map image=bgr or image=rgb", formats.ErrSchema)
		}
	case l.kind != pickles && (l.image != "" || l.label != ""):
		return fmt.Errorf("%w: the values are images: there is nothing for a map to name", formats.ErrSchema)
	}
	return nil
}

func kindOf(value []byte) (kind, error) {
	switch {
	case formats.Sniff(value) != "":
		return imageFiles, nil
	case bytes.HasPrefix(value, []byte("\x93NUMPY")):
		return arrays, nil
	case isPickle(value):
		return pickles, nil
	case isArrow(value):
		return 0, errArrow
	}
	if _, err := parseDatum(value); err == nil {
		return datums, nil
	} else if !errors.Is(err, errDatum) {
		return 0, err
	}
	return 0, fmt.Errorf("%w: it is no image file, no numpy array, no pickle and no Datum of Caffe", formats.ErrNotDataset)
}

// decode reads the value of a sample.
func (l *layout) decode(value []byte) (it item, err error) {
	switch l.kind {
	case imageFiles:
		it.image, err = imageOf(value)
	case arrays:
		it.image, err = npyImage(value)
	case pickles:
		it, err = unpickle(value, l.image, l.label)
	case datums:
		var d datum
		if d, err = parseDatum(value); err != nil {
			return it, err
		}
		if it.image = (formats.Value{Data: d.data, Encoding: formats.Sniff(d.data)}); !d.encoded {
			it.image = d.pixels(l.reversed)
		} else if it.image.Encoding == "" {
			err = errors.New("the bytes in a Datum are not an image file that dsconv reads")
		}
		if it.label = d.label; d.hasLabel {
			it.has = numbers
		}
	}
	return it, err
}

// named returns the sample of a key, with its split and class where they are in the key, without its value.
func (l *layout) named(stored []byte) foreign.Sample {
	one := foreign.Sample{Label: formats.NoLabel, Path: strings.ToValidUTF8(string(stored), "\ufffd")}
	k := strings.TrimPrefix(strings.TrimPrefix(string(stored), l.above), imagePrefix)
	if isNumber(k) && len(k) <= 8 {
		one.Key, one.Unique = strings.Repeat("0", 8-len(k))+k, k
		return one
	}
	stem := strings.TrimSuffix(k, path.Ext(k))
	if formats.CheckKey(stem) != nil {
		one.Key = fmt.Sprintf("%x", stored)
		one.Unique = one.Key
		return one
	}
	one.Key, one.Unique = stem, k // where two differ only in the extension, it stays
	if !l.folders {
		return one
	}
	dir := path.Dir(k)
	folders := strings.Split(dir, "/")
	for _, name := range folders[:len(folders)-1] {
		if formats.IsSplitWord(name) {
			one.Split = name
			break
		}
	}
	if one.Class = path.Base(dir); dir == "." {
		one.Class = ""
	}
	return one
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// countIn returns the number in the value of one of counts; ok is false if it has none.
func countIn(value []byte) (n int64, ok bool) {
	if isNumber(string(value)) && len(value) < 18 {
		for _, c := range value {
			n = 10*n + int64(c-'0')
		}
		return n, true
	}
	if !isPickle(value) {
		return 0, false
	}
	v, err := pickle.Load(value, 1<<20)
	if err != nil {
		return 0, false
	}
	n, ok = v.(int64)
	return n, ok
}
