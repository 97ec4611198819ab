package lmdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/storage/lmdbfile"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// scanner finds the samples of an environment.
type scanner struct {
	file   string
	source *foreign.Source
	env    *lmdbfile.Environment
	layout *layout
}

// surveyed is the number of samples that the layout is judged by.
const surveyed = 32

// errNamed is about an environment with several databases.
var errNamed = fmt.Errorf("%w: it has named databases (lmdb.open(..., max_dbs=...)); only the main database is read", formats.ErrNotDataset)

// environmentOf returns the newest snapshot of a mapped file.
func environmentOf(m *mapped.Mapping) (*lmdbfile.Environment, error) {
	e := &lmdbfile.Environment{Name: dataName, Mapping: m}
	err := guard.Read(m.Data, func() error { return e.Open(m.Data, nil) })
	if err == nil {
		err = e.Databases[0].Err
	}
	return e, err
}

// each calls do with each node of the main database.
func (c *scanner) each(ctx context.Context, do func(n *lmdbfile.Node) (more bool, err error)) error {
	cursor := lmdbfile.NewCursor(c.env, 0)
	for i := 0; ; i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := cursor.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
		if n.IsDatabase() {
			return fmt.Errorf("%s: %w", c.file, errNamed)
		}
		if more, err := do(&n); err != nil || !more {
			return err
		}
	}
}

// use calls do with the value of a node.
func (c *scanner) use(n *lmdbfile.Node, do func(value []byte) error) error {
	key := bytes.Clone(n.Key())
	err := guard.Read(c.env.Data, func() error {
		value, err := c.env.Value(n)
		if err != nil {
			return err
		}
		return do(value)
	})
	if err != nil {
		return fmt.Errorf("%s: key %q: %w", c.file, key, err)
	}
	return nil
}

// survey judges the layout.
func (c *scanner) survey(ctx context.Context) error {
	var list []example
	texts := false
	var free layout // of which all keys but counts are samples
	err := c.each(ctx, func(n *lmdbfile.Node) (bool, error) {
		if strings.HasPrefix(string(n.Key()), labelPrefix) && texts || !free.isSample(n.Key()) {
			return true, nil
		}
		texts = texts || strings.HasPrefix(string(n.Key()), imagePrefix)
		at, err := c.env.Location(n) // the cursor has a copy of the page, which it uses again
		if err != nil {
			return false, err
		}
		value, err := c.env.Mapping.Slice(at.Offset, at.Length)
		list = append(list, example{bytes.Clone(n.Key()), value})
		return len(list) < surveyed, err
	})
	if err != nil {
		return err
	}
	err = guard.Read(c.env.Data, func() (err error) {
		c.layout, err = newLayout(list)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", c.file, err)
	}
	if texts {
		c.layout.withTexts()
	}
	return c.findAbove(ctx)
}

// scan implements foreign.Source.
func (c *scanner) scan(ctx context.Context, s *foreign.Scan) (err error) {
	if c.env, err = environmentOf(s.Files[0]); err != nil {
		return fmt.Errorf("%s: %w", c.file, err)
	}
	if err := c.survey(ctx); err != nil {
		return err
	}
	for k, name := range columns {
		if n, err := s.Column(name); err != nil || n != k {
			return fmt.Errorf("%s: the column %s is number %d: %w", c.file, name, n, err)
		}
	}
	samples, said := int64(0), int64(-1)
	err = c.each(ctx, func(n *lmdbfile.Node) (bool, error) {
		if !c.layout.isSample(n.Key()) {
			return true, c.use(n, func(value []byte) error { said = max(said, saidBy(n.Key(), value)); return nil })
		}
		samples++
		one, bad, err := c.sample(n)
		if bad != nil {
			return true, s.SkipBad(one.Path, bad)
		}
		if err == nil && c.layout.texts {
			err = c.addText(&one, n.Key())
		}
		if err == nil {
			err = s.Add(&one)
		}
		return true, err
	})
	if err == nil && said >= 0 && said != samples {
		err = fmt.Errorf("%s: %w: it says that it has %d samples, but there are %d", c.file, formats.ErrDamaged, said, samples)
	}
	return err
}

// saidBy returns the number of samples that the value of a key says, -1 if it says none.
func saidBy(key, value []byte) int64 {
	if !slices.Contains(counts, string(key)) || !isNumber(string(value)) {
		return -1
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// sample returns the sample of a node; bad says why its value is none.
func (c *scanner) sample(n *lmdbfile.Node) (one foreign.Sample, bad, err error) {
	one = c.layout.named(n.Key())
	at, err := c.env.Location(n)
	if err != nil {
		return one, nil, fmt.Errorf("%s: key %q: %w", c.file, n.Key(), err)
	}
	err = c.use(n, func(value []byte) error {
		v := foreign.Value{Column: imageColumn, Offset: at.Offset, Length: at.Length, Size: int64(len(value)), Encoding: formats.Sniff(value)}
		if v.Encoding == "" {
			bad = errNoImage
		}
		one.Values = []foreign.Value{v}
		return nil
	})
	return one, bad, err
}

// addText adds the text that belongs to an image.
func (c *scanner) addText(one *foreign.Sample, key []byte) error {
	label := labelPrefix + strings.TrimPrefix(string(key), imagePrefix)
	n, err := c.env.Find(c.env.Databases[0].Root, []byte(label))
	if errors.Is(err, lmdbfile.ErrNoKey) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: key %q: %w", c.file, label, err)
	}
	at, err := c.env.Location(&n)
	if err == nil {
		one.Values = append(one.Values, foreign.Value{Column: textColumn, Offset: at.Offset, Length: at.Length})
	}
	return err
}

// layoutOf implements foreign.Source.
func (c *scanner) layoutOf(*foreign.Found) (*foreign.Layout, error) {
	l := &foreign.Layout{Schema: c.layout.schema}
	for _, f := range c.layout.schema {
		switch f.Kind {
		case formats.Image:
			l.Fields = append(l.Fields, foreign.FieldSource{Columns: []int{imageColumn}})
		case formats.Label:
			l.Fields = append(l.Fields, foreign.FieldSource{})
		default:
			l.Fields = append(l.Fields, foreign.FieldSource{Columns: []int{textColumn}, As: asText})
		}
	}
	return l, nil
}

// openImages opens the LMDB at path.
func openImages(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	file, _ := dataFile(path)
	if len(o.Map) > 0 {
		return nil, fmt.Errorf("%s: %w: the values are images: there is nothing for a map to name", file, formats.ErrSchema)
	}
	c := &scanner{file: file}
	c.source = &foreign.Source{
		Format: Images{}.Name(), Path: path, Version: 2, Options: o, Scan: c.scan, Layout: c.layoutOf, Decode: decode,
		Files: []foreign.File{{Path: file, Name: filepath.Base(file), Stem: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}},
	}
	return foreign.Open(ctx, c.source)
}

// decode implements foreign.Source.
func decode(_ string, raw []byte, _ []int) (formats.Value, error) {
	if !utf8.Valid(raw) {
		return formats.Value{}, fmt.Errorf("%w: the text is not UTF-8", formats.ErrSchema)
	}
	return formats.Value{Data: raw, Encoding: formats.Plain}, nil
}

// The columns of a scan, and their names.
const (
	imageColumn = iota
	textColumn
)

var columns = [...]string{imageColumn: "image", textColumn: "text"}

// asText is how the text of an image is decoded: see decode.
const asText = "text"
