package tfrecord

import (
	"fmt"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// whole reads an example and returns its sample: see sample.
func (r *record) whole(example []byte, split string, n, file int) (foreign.Sample, error) {
	if err := r.parse(example); err != nil {
		return foreign.Sample{}, err
	}
	return r.sample(split, n, file)
}

// sample returns the sample of the example in r, number n of its split, without the places of its values.
func (r *record) sample(split string, n, file int) (one foreign.Sample, err error) {
	l := r.l
	one.Split, one.File, one.Label = split, file, formats.NoLabel
	if err := r.setLabel(&one); err != nil {
		return one, err
	}
	for _, feature := range l.texts {
		text, err := r.text(feature)
		if err != nil {
			return one, err
		}
		one.Columns = append(one.Columns, strings.ToValidUTF8(text, "\ufffd"))
	}
	name, err := r.text(l.filename)
	if err != nil {
		return one, err
	}
	one.Key, one.Path = keyOf(split, name, n)
	one.Unique = fmt.Sprintf("%s-%08d", one.Key, n) // many writers keep only the last element of a name
	return one, nil
}

// locate sets where the values of the example in r are: of the image the frame at byte at, of the others what
// decoder reads.
func (r *record) locate(m *mapped.Mapping, at int64, frame []byte, columns []int, one *foreign.Sample) error {
	image, err := r.pixels(0, r.l.fields[0])
	if err != nil {
		return err
	}
	v := foreign.Value{Column: columns[0], Offset: at, Length: int64(len(frame)), Size: int64(len(image.Data)), Encoding: image.Encoding}
	if len(image.Shape) == 3 {
		v.Shape = [3]int(image.Shape)
	}
	one.Values = append(one.Values, v)
	for k := 1; k < len(columns); k++ {
		field := &r.l.schema[k]
		if field.Kind == formats.Label {
			continue
		}
		b, err := r.stored(k)
		if err != nil {
			return err
		}
		if (field.Kind == formats.Image || field.Kind == formats.Mask) && len(b) == 0 {
			continue // it is missing
		}
		v := foreign.Value{Column: columns[k], Offset: at} // a list without values
		if len(b) > 0 {
			v.Offset, v.Length = m.Offset(b), int64(len(b))
		}
		if field.Kind == formats.Image || field.Kind == formats.Mask {
			v.Encoding = formats.Sniff(b)
		}
		one.Values = append(one.Values, v)
	}
	return nil
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
		if _, ok, err := r.label(); ok || err != nil {
			return fmt.Errorf("%w: it has a label but no name of its class in %s: give label=%s+0 as a map to take the labels as indices, or "+
				"label=%s-1 if they count from 1", formats.ErrSchema, l.names[l.class], l.names[l.label], l.names[l.label])
		}
		return nil
	}
	x, ok, err := r.label()
	if err != nil || !ok {
		return err
	}
	to.Label = x + int64(min(l.offset, asIs))
	if to.Label < formats.NoLabel || to.Label > 1<<31 {
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

// labelRange is what the labels of all examples are, to decide what they count from.
type labelRange struct {
	seen map[int64]struct{}
}

// maxClasses is the most classes whose numbers are compared.
const maxClasses = 1 << 20

func (c *labelRange) add(x int64) {
	if len(c.seen) < maxClasses {
		c.seen[x] = struct{}{}
	}
}

// offset returns what is added to labels so that they are indices of classes.
func (c *labelRange) offset() (offset, error) {
	low, high := int64(1<<62), int64(-1)
	for x := range c.seen {
		low, high = min(low, x), max(high, x)
	}
	switch {
	case high < 0 || low <= 0: // there are no labels, or the class 0 occurs
		return asIs, nil
	case low == 1 && high == int64(len(c.seen)):
		return minusOne, nil
	}
	return asIs, fmt.Errorf("%w: the labels in %s go from %d to %d without 0, but not every number from 1 occurs, so nobody knows whether they count from 0 or, "+
		"as TensorFlow's ImageNet scripts have it, from 1: give the map label=%s+0 or label=%s-1", formats.ErrSchema, classLabel, low, high, classLabel, classLabel)
}
