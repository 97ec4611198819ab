package folder

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// LabelColumn tells what was made of a label column of the table.
type LabelColumn struct {
	Column  string      `json:"column"`
	As      labels.Type `json:"as"`
	Classes int         `json:"classes,omitempty"`
	// Least and Most are the smallest and the largest number; nil if there is none.
	Least *float32 `json:"least,omitempty"`
	Most  *float32 `json:"most,omitempty"`
	// Without is the number of images that have no label.
	Without int `json:"without_label"`
	// Moved is a class that is called by a number which is not its index, and Index that; "" if
	// there is none.
	Moved string `json:"moved,omitempty"`
	Index int    `json:"index,omitempty"`
	// Said is all that in words.
	Said string `json:"said"`
}

// LabelColumns tells what was made of the label columns; none without a table.
func (d *Dataset) LabelColumns() []LabelColumn { return d.columns }

func (c *LabelColumn) describe() string {
	s := c.Column + ": "
	switch {
	case c.As == labels.Float && c.Least == nil:
		s += "numbers (float32)"
	case c.As == labels.Float:
		s += fmt.Sprintf("numbers from %s to %s (float32)", labels.FormatFloat(*c.Least), labels.FormatFloat(*c.Most))
	case c.As == labels.Index && c.Classes > 0:
		s += fmt.Sprintf("%d classes, the indices 0 to %d as they are", c.Classes, c.Classes-1)
	case c.Classes == 0:
		s += "no classes"
	default:
		s += fmt.Sprintf("%d classes by name", c.Classes)
	}
	if c.Moved != "" {
		s += fmt.Sprintf(" (the index of %s is %d)", c.Moved, c.Index)
	}
	if c.Without > 0 {
		s += fmt.Sprintf("; %d without a label", c.Without)
	}
	return s
}

// describeLabels sums up the label columns over the images.
func (d *Dataset) describeLabels(l *labeler) {
	for k, f := range l.fields {
		c := LabelColumn{Column: f.name, As: f.Type, Classes: len(f.Classes)}
		for i := range d.items {
			c.count(&f, d.items[i].labels, k)
		}
		for i, name := range f.Classes {
			if n, err := strconv.Atoi(name); err == nil && n != i && c.Moved == "" {
				c.Moved, c.Index = name, i
			}
		}
		c.Said = c.describe()
		d.columns = append(d.columns, c)
	}
}

// count adds an image's label of field k.
func (c *LabelColumn) count(f *labelField, of []int64, k int) {
	switch {
	case f.Sep != "":
		if len(of) == 0 {
			c.Without++
		}
	case f.Type != labels.Float:
		if of[k] == formats.NoLabel {
			c.Without++
		}
	default:
		x := math.Float32frombits(uint32(of[k]))
		if math.IsNaN(float64(x)) {
			c.Without++
			return
		}
		if c.Least == nil || x < *c.Least {
			c.Least = &x
		}
		if c.Most == nil || x > *c.Most {
			c.Most = &x
		}
	}
}
