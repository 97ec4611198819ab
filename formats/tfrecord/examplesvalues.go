package tfrecord

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// How decoder reads the bytes that a scan located.
const (
	asFrame   = "frame" // the image in a frame; the names of its feature and of those of its shape follow
	asInts    = "ints"
	asFloats  = "floats"
	asNumber  = "number"
	asBoxes   = "boxes"
	asTexts   = "texts"
	asText    = "text"
	asHot     = "hot" // the number of classes and the kind of the list follow
	separator = "\x00"
)

// as returns how field k is read.
func (l *layout) as(k int) string {
	f := &l.schema[k]
	switch {
	case k == 0:
		parts := []string{asFrame, l.names[l.fields[0]]}
		for _, feature := range l.shape {
			name := ""
			if feature >= 0 {
				name = l.names[feature]
			}
			parts = append(parts, name)
		}
		return strings.Join(parts, separator)
	case f.Kind == formats.Number:
		return asNumber
	case f.Kind == formats.MultiHot:
		return fmt.Sprintf("%s%s%d%s%d", asHot, separator, len(f.Classes), separator, l.hot)
	case f.Kind == formats.Boxes:
		return asBoxes
	case f.Kind == formats.JSON:
		return asTexts
	case f.Kind == formats.Text:
		return asText
	case f.Kind == formats.Array && f.DType == formats.Int64:
		return asInts
	case f.Kind == formats.Array:
		return asFloats
	}
	return "" // images and bytes, as they are
}

// stored returns the bytes that are located for field k: a value, or a list.
func (r *record) stored(k int) ([]byte, error) {
	feature := r.l.fields[k]
	f, want := r.features[feature], tfexample.Ints
	switch r.l.as(k) {
	case asNumber, asFloats, asBoxes:
		want = tfexample.Floats
	case asTexts, asText, "":
		want = tfexample.Bytes
	}
	if r.l.schema[k].Kind == formats.MultiHot {
		want = r.l.hot
	}
	if f.IsEmpty() {
		return nil, nil
	}
	if f.Kind != tfexample.None && f.Kind != want {
		return nil, fmt.Errorf("%w: the feature %s is a %s list, but a %s list in the first examples", formats.ErrSchema, r.l.names[feature], f.Kind, want)
	}
	if r.l.as(k) == "" || r.l.as(k) == asText {
		return r.only(feature)
	}
	return f.List(), nil
}

// pixels returns an image.
func (r *record) pixels(k, feature int) (v formats.Value, err error) {
	if v.Data, err = r.only(feature); err != nil {
		return v, err
	}
	if v.Encoding = formats.Sniff(v.Data); v.Encoding != "" {
		return v, nil
	}
	if k > 0 || r.l.shape[0] < 0 {
		return v, fmt.Errorf("%w: the bytes in the feature %s are not an image file that dsconv reads", formats.ErrDamaged, r.l.names[feature])
	}
	shape, err := r.imageShape(v.Data)
	v.Encoding, v.DType, v.Shape = formats.Raw, formats.Uint8, shape[:]
	return v, err
}

// decoder reads values. It is safe for concurrent use.
type decoder struct {
	records sync.Pool // of *record of the image
	once    sync.Once
	layout  *layout // of the image alone
}

// maxInts is the most integers of a value.
const maxInts = 1 << 25

// decode implements foreign.Source.
func (d *decoder) decode(as string, raw []byte, _ []int) (v formats.Value, err error) {
	switch v.Encoding = formats.Raw; as {
	case asInts:
		v.DType = formats.Int64
		list := tfexample.ListOf(tfexample.Ints, raw)
		n := 0
		if n, err = list.Len(); err != nil || n > maxInts {
			return v, cmp.Or(err, fmt.Errorf("%w: a list of %d integers, the limit is %d", formats.ErrSchema, n, maxInts))
		}
		v.Data = make([]byte, 0, 8*n) // up to 8 times the bytes of the list
		err = list.Ints(func(x int64) { v.Data = binary.LittleEndian.AppendUint64(v.Data, uint64(x)) })
		v.Shape = []int{len(v.Data) / 8}
	case asFloats, asBoxes, asNumber:
		v.DType = formats.Float32
		err = tfexample.ListOf(tfexample.Floats, raw).Floats(func(x float32) { v.Data = binary.LittleEndian.AppendUint32(v.Data, math.Float32bits(x)) })
		if err == nil {
			err = shapeFloats(as, &v)
		}
	case asTexts:
		v.Encoding = formats.Plain
		v.Data, err = texts(tfexample.ListOf(tfexample.Bytes, raw))
	case asText:
		if v.Encoding, v.Data = formats.Plain, raw; !utf8.Valid(raw) {
			err = fmt.Errorf("%w: the text is not UTF-8", formats.ErrSchema)
		}
	default:
		if strings.HasPrefix(as, asHot+separator) {
			return hotValue(as, raw)
		}
		return d.image(as, raw)
	}
	return v, err
}

// hotOf returns the n values of a list of numbers, which must be 0 and 1, one for each class.
func hotOf(f tfexample.Feature, n int) (hot []byte, err error) {
	odd := f.Kind == tfexample.Bytes
	add := func(x float64) {
		odd = odd || x != 0 && x != 1
		hot = append(hot, byte(x))
	}
	if f.Kind == tfexample.Floats {
		err = f.Floats(func(x float32) { add(float64(x)) })
	} else {
		err = f.Ints(func(x int64) { add(float64(x)) })
	}
	if err == nil && (odd || len(hot) != n) {
		err = fmt.Errorf("%w: the label is not a list of 0 and 1 for %d classes, as in the first examples", formats.ErrSchema, n)
	}
	return hot, err
}

// hotValue returns a multi-hot label. Without a list no class is set.
func hotValue(as string, raw []byte) (v formats.Value, err error) {
	var classes int
	var kind tfexample.Kind
	if _, err := fmt.Sscanf(strings.ReplaceAll(as, separator, " "), asHot+" %d %d", &classes, &kind); err != nil {
		return v, fmt.Errorf("%w: its description has the field %q", formats.ErrDamaged, as)
	}
	v.Encoding, v.DType, v.Shape = formats.Raw, formats.Uint8, []int{classes}
	if v.Data = make([]byte, classes); len(raw) > 0 {
		v.Data, err = hotOf(tfexample.ListOf(kind, raw), classes)
	}
	return v, err
}

func shapeFloats(as string, v *formats.Value) error {
	n := len(v.Data) / 4
	switch {
	case as == asFloats:
		v.Shape = []int{n}
	case as == asBoxes && n%4 == 0:
		v.Shape = []int{n / 4, 4}
	case as == asBoxes:
		return fmt.Errorf("%w: %d numbers are not boxes of four", formats.ErrSchema, n)
	case n == 0:
		v.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	case n > 1:
		return fmt.Errorf("%w: there are %d numbers, but one in the first examples", formats.ErrSchema, n)
	}
	return nil
}

// texts returns a list as a JSON array of strings.
func texts(f tfexample.Feature) ([]byte, error) {
	list, valid := []string{}, true
	err := f.EachBytes(func(b []byte) {
		list = append(list, string(b))
		valid = valid && utf8.Valid(b)
	})
	if err == nil && !valid {
		err = fmt.Errorf("%w: a text is not UTF-8", formats.ErrSchema)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

// image returns the image in a frame.
func (d *decoder) image(as string, frame []byte) (v formats.Value, err error) {
	d.once.Do(func() { d.layout = imageLayout(as) })
	if d.layout == nil {
		return v, fmt.Errorf("%w: its description has the field %q", formats.ErrDamaged, as)
	}
	example, err := tfexample.Unframe(frame, false)
	if err != nil {
		return v, err
	}
	r, ok := d.records.Get().(*record)
	if !ok {
		r = d.layout.newRecord()
	}
	defer d.records.Put(r)
	if err := r.parse(example); err != nil {
		return v, err
	}
	return r.pixels(0, d.layout.fields[0])
}

// imageLayout returns the layout of the image alone that as describes, nil if it describes none.
func imageLayout(as string) *layout {
	parts := strings.Split(as, separator)
	if len(parts) != 5 || parts[0] != asFrame {
		return nil
	}
	l := &layout{numbers: map[string]int{}, shape: [3]int{-1, -1, -1}}
	l.fields = []int{l.number(parts[1])}
	for axis, name := range parts[2:] {
		if name != "" {
			l.shape[axis] = l.number(name)
		}
	}
	return l
}
