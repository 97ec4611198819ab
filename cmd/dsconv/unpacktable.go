package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// labelSep joins the labels of a multi-hot field in labels.csv.
const labelSep = ";"

// needsTable says whether folders alone cannot tell the labels: several label fields,
// user columns, or a label that is not the image's folder.
func (u *unpacker) needsTable() (bool, error) {
	m := u.ds.Meta()
	labels := 0
	for _, f := range m.Schema {
		switch f.Kind {
		case formats.Label:
			labels++
		case formats.MultiHot, formats.Number:
			return true, nil
		}
	}
	if labels > 1 || len(m.Columns) > 0 {
		return true, nil
	}
	if labels == 0 {
		return false, nil
	}
	classes := m.Classes()
	for i := range u.ds.Len() {
		in, err := u.ds.Info(i)
		if err != nil {
			return false, err
		}
		if in.Label < 0 || in.Label >= int64(len(classes)) {
			return true, nil
		}
		class := classes[in.Label] + "/"
		if !strings.HasPrefix(in.Key, class) && !strings.HasPrefix(in.Key, in.Split+"/"+class) {
			return true, nil
		}
	}
	return false, nil
}

// labelsTable is what the table of labels is called, if no image is.
const labelsTable = "labels.csv"

// tableName is a name that no image has, nor a folder of images.
func (u *unpacker) tableName() (string, error) {
	taken := map[string]bool{} // in lower case, as some file systems have it
	for i := range u.ds.Len() {
		in, err := u.ds.Info(i)
		if err != nil {
			return "", err
		}
		top, _, _ := strings.Cut(fileName(&in, writtenAs(in.Encoding)), "/")
		if top = strings.ToLower(top); strings.HasPrefix(top, "labels") {
			taken[top] = true
		}
	}
	name := labelsTable
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("labels-%d.csv", i)
	}
	return name, nil
}

// writtenAs is the encoding of the file that an image of that encoding becomes.
func writtenAs(e formats.Encoding) formats.Encoding {
	if e == formats.Raw || e == formats.RawZstd {
		return formats.PNG
	}
	return e
}

// writeTable writes the table of labels: path, split, a column for each label field, the user's.
func (u *unpacker) writeTable() (err error) {
	m := u.ds.Meta()
	f, err := u.root.OpenFile(u.table, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	header := []string{"path", "split"}
	var fields []int
	for i, f := range m.Schema {
		if f.Kind.IsLabel() {
			header = append(header, f.Name)
			fields = append(fields, i)
		}
	}
	w := csv.NewWriter(f)
	if err := w.Write(append(header, m.Columns...)); err != nil {
		return err
	}
	var s formats.Sample
	for i := range u.ds.Len() {
		in, err := u.ds.Info(i)
		if err != nil {
			return err
		}
		if u.split != "" && in.Split != u.split {
			continue
		}
		if err := u.ds.Read(i, &s); err != nil {
			return err
		}
		enc := writtenAs(s.Values[m.Schema.ImageIndex()].Encoding)
		row := []string{fileName(&in, enc), in.Split}
		for _, j := range fields {
			row = append(row, labelText(&m.Schema[j], &s.Values[j]))
		}
		if err := w.Write(append(row, in.Columns...)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// labelText is the name of a label, or of several, or a number.
func labelText(f *formats.Field, v *formats.Value) string {
	name := func(i int) string {
		if i < len(f.Classes) {
			return f.Classes[i]
		}
		return strconv.Itoa(i)
	}
	switch f.Kind {
	case formats.Number:
		x, _ := v.Float32()
		return labels.FormatFloat(x)
	case formats.Label:
		if x, ok := v.Int64(); ok && x >= 0 {
			return name(int(x))
		}
		return ""
	}
	var hot []string
	for i, b := range v.Data {
		if b != 0 {
			hot = append(hot, name(i))
		}
	}
	return strings.Join(hot, labelSep)
}
