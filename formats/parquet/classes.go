package parquet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/storage/parquetfile"
)

const (
	maxClasses = 1 << 16
	maxClass   = 1024 // bytes of a class's name
)

// labelAt is the designated label's index among the fields, if there is one.
const labelAt = 1

// nameClasses gives a label that has texts its classes: the texts, sorted. Where they are too many or too long for that
// the column is one of the user's, unless a map says that it is the label.
func (d *dataset) nameClasses(ctx context.Context, mapped bool) error {
	r := d.roles
	if len(r.fields) <= labelAt || !r.fields[labelAt].named {
		return nil
	}
	label := r.fields[labelAt]
	classes, why, err := d.distinct(ctx, labelAt)
	switch {
	case err != nil:
		return err
	case why == "":
		r.fields[labelAt].Classes = classes
		return nil
	case mapped:
		return fmt.Errorf("%s: %w: the column %s is not the label: %s", d.path, formats.ErrSchema, label.column, why)
	}
	for i := range d.parts {
		p := &d.parts[i]
		at := p.placed[labelAt]
		p.placed = append(slices.Delete(p.placed, labelAt, labelAt+1), at)
	}
	r.fields = slices.Delete(r.fields, labelAt, labelAt+1)
	label.Field = formats.Field{Name: r.free(label.column), Kind: formats.Text}
	label.named = false
	r.columns = append(r.columns, label)
	r.skip(label.column, fmt.Sprintf("it is no label but the column %s: %s", label.Name, why))
	return nil
}

// distinct returns the classes that the texts of a field are, or why they are none.
func (d *dataset) distinct(ctx context.Context, field int) (classes []string, why string, err error) {
	seen := map[string]bool{}
	for i := range d.parts {
		p := &d.parts[i]
		for row := range p.Rows() {
			if row%1024 == 0 && ctx.Err() != nil {
				return nil, "", ctx.Err()
			}
			text, err := d.text(p, row, p.placed[field].column)
			switch {
			case err != nil:
				return nil, "", p.failed(row, err)
			case len(text) > maxClass:
				return nil, fmt.Sprintf("row %d of %s has a text of %d bytes, and a class has at most %d", row, p.Path, len(text), maxClass), nil
			case text != "":
				seen[text] = true
			}
			if len(seen) > maxClasses {
				return nil, fmt.Sprintf("it has more than %d different texts", maxClasses), nil
			}
		}
	}
	if classes, d.labels, err = labels.ClassesOf(slices.Sorted(maps.Keys(seen))); err != nil {
		return nil, err.Error(), nil //nolint:nilerr // it says why the column is no label
	}
	return classes, "", nil
}

// classOf returns the class that a text is the name of.
func (d *dataset) classOf(p *part, row, k int) (int64, error) {
	text, err := d.text(p, row, p.placed[k].column)
	if err != nil || text == "" {
		return formats.NoLabel, err
	}
	at, ok := d.labels[text]
	if !ok {
		return formats.NoLabel, fmt.Errorf("%s: %w: row %d has another label than at the opening", p.Path, formats.ErrDamaged, row)
	}
	return at, nil
}

// looked is how many rows are looked at for an image.
const looked = 16

// beginsWithImage reports whether the first value of a column of bytes is an image file.
func beginsWithImage(f *parquetfile.File, column int) (is bool) {
	cache, found := parquetfile.NewCache(cacheBytes), false
	for row := 0; row < min(f.Rows(), looked) && !found; row++ {
		err := cache.Row(f, row, column, func(v *parquetfile.Values, i int) error {
			b, ok := v.Bytes(i)
			found, is = ok, ok && formats.Sniff(b) != ""
			return nil
		})
		if err != nil {
			return false // the reading says what is wrong
		}
	}
	return is
}

// feature is what datasets says of a column.
type feature struct {
	Type  string   `json:"_type"`
	Names []string `json:"names"`
}

// featuresOf reads what datasets wrote into the file's metadata. What it cannot read is as if it were not there: the
// columns' own types decide then.
func featuresOf(f *parquetfile.File) map[string]feature {
	var content struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if json.Unmarshal([]byte(f.Metadata("huggingface")), &content) != nil {
		return nil
	}
	features := map[string]feature{}
	for name, raw := range content.Info.Features {
		var one feature
		if json.Unmarshal(raw, &one) == nil { // a list has no type
			features[name] = one
		}
	}
	return features
}

// sameNames reports whether the classes of a column are the same in two files.
func sameNames(a, b map[string]feature, column string) bool {
	return slices.Equal(a[column].Names, b[column].Names)
}
