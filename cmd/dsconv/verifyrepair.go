package main

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/verify"
)

// repair restores what verify found damaged in the dataset at path from the source that it
// was packed from, or from any dataset that has the same samples, and verifies it again.
func repair(ctx context.Context, c *console, f formats.Format, path, from string, found *verify.Report, o convert.Options, dry bool) (*edit.Repaired, error) {
	t, err := edit.OpenDamaged(f, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	src, err := openSource(ctx, from, folderConfig(t.Meta()))
	if err != nil {
		return nil, err
	}
	defer src.Close()
	p, done, err := edit.Repair(ctx, t, found.Blocks, found.NoTable, src, o)
	if err != nil || p == nil || dry {
		return done, err
	}
	if _, err := runPlan(ctx, c, p, &packOptions{}); err != nil {
		return done, fmt.Errorf("%w\n%s is as it was", withHint(err, path), path)
	}
	return done, nil
}

// folderConfig is how the folder of a dataset was read, as its recipe says.
func folderConfig(m *formats.Meta) folder.Config {
	return folder.Config{
		Labels: m.Recipe["labels"], LabelColumns: splitList(m.Recipe["label-columns"]), LabelSep: m.Recipe["label-sep"],
		LabelType: m.Recipe["label-type"], ClassOrder: m.Recipe["class-order"], Like: m.Schema,
		Take: formats.PatternsOf(m.Recipe),
	}
}

func printRepaired(c *console, r *edit.Repaired) {
	printUpTo(c, r.Restored, "restored samples", func(key string) string { return "restored: " + printable(key) })
	if r.Forgotten > 0 {
		c.printf("the list of %d samples that were removed by hand was damaged and is lost: dsconv add brings them back\n", r.Forgotten)
	}
	printUpTo(c, r.Lost, "lost samples", func(l edit.Lost) string { return fmt.Sprintf("lost: %s: %s", printable(l.Key), printable(l.Cause)) })
	switch {
	case len(r.Lost) > 0:
		c.printf("%d samples cannot be restored from this source, so nothing was changed; dsconv rm removes them\n", len(r.Lost))
	case r.Files == nil:
		c.printf("written anew: all\n")
	case len(r.Files) == 0:
		c.printf("written anew: what describes the data; all data files stay\n")
	default:
		c.printf("written anew: %s\n", shortList(r.Files, maxLines))
	}
}
