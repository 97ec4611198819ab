package edit

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// layoutCheck finds out whether the folders of a source mean what they meant when the dataset was packed.
type layoutCheck struct {
	*adder
	field  int // of the label that the folders' names are; -1 if there is none
	splits bool
}

// checkLayout returns an error if the source is a folder in which splits are read now where the dataset has
// classes, or the other way round. Folders came or went, or an earlier version took others for classes. Then the
// source would silently give all samples other labels.
func (a *adder) checkLayout(ctx context.Context) error {
	from := a.src.Meta()
	table := from.Recipe["labels"]
	if from.Format != "folder" || strings.EqualFold(filepath.Ext(table), ".json") {
		return nil // a description has the splits
	}
	c := layoutCheck{a, -1, a.split.FromSource()}
	byFolder := table == "" && !slices.ContainsFunc(slices.Collect(maps.Keys(from.Recipe)), recipepath.IsFolderLabels)
	if l := from.Schema.LabelIndex(); l >= 0 && byFolder {
		c.field = a.union.meta.Schema.Index(from.Schema[l].Name)
	}
	for k := range a.pairs {
		p := &a.pairs[k]
		if k%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if p.old < 0 || p.src < 0 {
			continue
		}
		if err := c.check(p); err != nil {
			return err
		}
	}
	return nil
}

// check compares what the folders of a pair's file were and are.
func (c *layoutCheck) check(p *pair) error {
	old, err := c.target.Info(int(p.old))
	if err != nil {
		return err
	}
	now, err := c.src.Info(int(p.src))
	if err != nil {
		return err
	}
	first, below, inFolder := strings.Cut(now.Source.Path, "/")
	if !inFolder || old.Source.Path != now.Source.Path {
		return nil
	}
	was, is := "no split", "one"
	if now.Split == "" {
		was, is = "a split", "none"
	}
	if c.movedLabel(&old, &now, first, below) || c.movedSplit(&old, &now, first) {
		return fmt.Errorf("%s: %w: the folder %s was %s when the dataset was packed, and is %s now (key %q). "+
			"Folders beside it came or went, or this dsconv takes others for classes. "+
			"Nothing was added, since labels and splits would change: pack the folder to another dataset, or add folders whose layout is that of the dataset",
			c.target.path, formats.ErrSchema, first, was, is, old.Key)
	}
	return nil
}

// movedLabel reports whether the label was the name of one of the two upper folders, and is that of the other.
func (c *layoutCheck) movedLabel(old, now *formats.Info, first, below string) bool {
	second, _, deeper := strings.Cut(below, "/")
	if c.field < 0 || !deeper || old.Provenance.Edited&c.target.Meta().EditedField(c.field) != 0 {
		return false
	}
	was, okOld := c.class(old.Label, c.union.meta.Schema[c.field].Classes)
	is, okNow := c.class(now.Label, c.src.Meta().Classes())
	if !okOld || !okNow {
		return false
	}
	renamed := func(name string) string {
		if to, ok := c.union.meta.Renamed[name]; ok {
			return to
		}
		return name
	}
	first, second, is = renamed(first), renamed(second), renamed(is)
	return was == first && is == second && first != second || was == second && is == first && first != second
}

// class returns the name of a class.
func (c *layoutCheck) class(label int64, classes []string) (name string, ok bool) {
	if label < 0 || label >= int64(len(classes)) {
		return "", false
	}
	return classes[label], true
}

// movedSplit reports whether the first folder was a split and is none, or the other way round.
func (c *layoutCheck) movedSplit(old, now *formats.Info, first string) bool {
	if !c.splits || old.Provenance.Edited&formats.EditedSplit != 0 {
		return false
	}
	return old.Split == first && now.Split == "" || old.Split == "" && now.Split == first
}
