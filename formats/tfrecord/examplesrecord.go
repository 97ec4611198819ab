package tfrecord

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// record is the features of one example that the layout has, by their numbers; it points into the example.
type record struct {
	l        *layout
	features []tfexample.Feature
}

// parse reads the features of an example.
func (r *record) parse(example []byte) error {
	clear(r.features)
	return tfexample.Each(example, func(name []byte, f tfexample.Feature) error {
		if i, ok := r.l.numbers[string(name)]; ok {
			r.features[i] = f
		}
		return nil
	})
}

// text returns the only value of a bytes feature, "" if there is none or no such feature.
func (r *record) text(feature int) (string, error) {
	if feature < 0 {
		return "", nil
	}
	b, _, err := r.features[feature].Bytes(0)
	return string(b), err
}

// number returns the label as it is stored; ok is false if the example has none.
func (r *record) number() (x int64, ok bool, err error) {
	f := r.features[r.l.label]
	n, err := f.Len()
	switch name := r.l.names[r.l.label]; {
	case err != nil || n == 0:
		return 0, false, err
	case f.Kind != tfexample.Ints:
		return 0, false, fmt.Errorf("%w: the feature %s is a %s list, not int64 as in the first examples", formats.ErrSchema, name, f.Kind)
	case n > 1:
		return 0, false, fmt.Errorf("%w: the feature %s has %d labels, want one", formats.ErrSchema, name, n)
	}
	return f.Int()
}

// sample returns the sample of the example in r, number n of its split, without the places of its values.
func (r *record) sample(split string, n, file int) (one foreign.Sample, err error) {
	one.Split, one.File, one.Label = split, file, formats.NoLabel
	if err := r.setLabel(&one); err != nil {
		return one, err
	}
	for _, feature := range r.l.texts {
		text, err := r.text(feature)
		if err != nil {
			return one, err
		}
		one.Columns = append(one.Columns, strings.ToValidUTF8(text, "\ufffd"))
	}
	name, err := r.text(r.l.filename)
	one.Key, one.Path = keyOf(split, name, n)
	one.Unique = fmt.Sprintf("%s-%08d", one.Key, n) // many writers keep only the last element of a name
	return one, err
}

func (r *record) setLabel(to *foreign.Sample) error {
	l := r.l
	if l.label < 0 {
		return nil
	}
	if l.class >= 0 {
		name, err := r.text(l.class)
		if to.Class = name; err != nil || name != "" || l.class == l.label {
			return err
		}
	}
	x, ok, err := r.number()
	switch to.Label = x + l.shift; {
	case err != nil || !ok:
		to.Label = formats.NoLabel
		return err
	case l.class >= 0:
		return fmt.Errorf("%w: it has a label but no name of its class in %s: give label=%s+0 as a map to take the labels as indices, or "+
			"label=%s-1 if they count from 1", formats.ErrSchema, l.names[l.class], l.names[l.label], l.names[l.label])
	case to.Label < formats.NoLabel || to.Label > 1<<31:
		return fmt.Errorf("%w: the label %d in %s is not a class index", formats.ErrSchema, x, l.names[l.label])
	}
	return nil
}

// keyOf returns the key of an example, and the source's path: by the name of the file that it came from, if that can be
// a key, else by its number in the split.
func keyOf(split, name string, n int) (key, source string) {
	name = strings.TrimPrefix(path.Clean(strings.ReplaceAll(name, `\`, "/")), "/")
	stem := strings.TrimSuffix(name, path.Ext(name))
	if name == "" || name == "." || formats.CheckKey(stem) != nil {
		stem, name = fmt.Sprintf("%08d", n), ""
	}
	return path.Join(split, stem), name
}

// locate sets where the values of the example in r are: of the image the frame at byte at, of the others the list, or the
// bytes of its only value.
func (r *record) locate(m *mapped.Mapping, at int64, frame []byte, one *foreign.Sample) error {
	for k, from := range r.l.fields {
		field, f := &r.l.schema[k], r.features[from.feature]
		switch {
		case field.Kind == formats.Label:
			continue
		case k == 0 && f.Kind != tfexample.Bytes:
			return notImage(r.l.names[from.feature], f)
		}
		b, err := r.stored(from)
		if err != nil {
			return err
		}
		v := foreign.Value{Column: k, Offset: at} // a list without values
		if len(b) > 0 {
			v.Offset, v.Length = m.Offset(b), int64(len(b))
		}
		if isImage := field.Kind == formats.Image || field.Kind == formats.Mask; isImage {
			v.Encoding = formats.Sniff(b)
			switch {
			case k == 0 && v.Encoding == "":
				return notImage(r.l.names[from.feature], f)
			case k == 0:
				v.Offset, v.Length, v.Size = at, int64(len(frame)), int64(len(b))
			case len(b) == 0: // it is missing
				continue
			}
		}
		one.Values = append(one.Values, v)
	}
	return nil
}

// stored returns the bytes of a value, or of a list.
func (r *record) stored(from source) ([]byte, error) {
	f, name := r.features[from.feature], r.l.names[from.feature]
	n, err := f.Len()
	switch one := from.kind == tfexample.Bytes && from.as != asTexts; {
	case err != nil || n == 0:
		return nil, err
	case f.Kind != from.kind:
		return nil, fmt.Errorf("%w: the feature %s is a %s list, but a %s list in the first examples", formats.ErrSchema, name, f.Kind, from.kind)
	case one && n > 1:
		return nil, fmt.Errorf("%w: the feature %s has %d values, want one", formats.ErrSchema, name, n)
	case one:
		b, _, err := f.Bytes(0)
		return b, err
	}
	return f.List(), nil
}

// notImage is the error about the image of an example.
func notImage(name string, f tfexample.Feature) error {
	_, ok, err := f.Bytes(0)
	if !ok {
		return cmp.Or(err, fmt.Errorf("%w: the example has no bytes in the feature %s", formats.ErrDamaged, name))
	}
	return fmt.Errorf("%w: the bytes in the feature %s are not an image file that dsconv reads", formats.ErrDamaged, name)
}
