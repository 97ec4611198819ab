package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/verify"
)

// repair restores the damaged samples of the dataset at path from its source, or from any dataset with
// the same samples.
func repair(cc *cli.Context, c *console, f formats.Format, path, from string, found *verify.Report, o convert.Options, dry bool) (*edit.Repaired, error) {
	t, err := edit.OpenDamaged(f, path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	src, err := openSource(cc.Context, from, packedConfig(cc, t.Meta()))
	if err != nil {
		return nil, err
	}
	defer src.Close()
	show := &runProgress{c: c}
	o.Progress, o.Command = show.show, c.commandLine()
	p, done, err := edit.Repair(cc.Context, t, found.Blocks, found.NoTable, src, o)
	if err != nil || p == nil || dry {
		return done, err
	}
	if _, err := runPlan(cc.Context, p, &writeOptions{progress: show}); err != nil {
		return done, fmt.Errorf("%w\n%s is unchanged", err, path)
	}
	return done, nil
}

func printRepaired(c *console, r *edit.Repaired) {
	printFirst(c, r.Restored, maxLines, " restored samples (--json lists all)", func(key string) string { return "restored: " + printable(key) })
	if r.Forgotten > 0 {
		c.printf("the list of %d samples removed by hand is lost: dsconv add will add them again\n", r.Forgotten)
	}
	printFirst(c, r.Lost, maxLines, " lost samples (--json lists all)", func(l edit.Lost) string { return fmt.Sprintf("lost: %s: %s", printable(l.Key), printable(l.Cause)) })
	switch {
	case len(r.Lost) > 0:
		c.printf("nothing was changed: %d samples cannot be restored from this source; remove them with dsconv rm, or use another source\n", len(r.Lost))
	case r.Files == nil:
		c.printf("written again: all files\n")
	case len(r.Files) == 0:
		c.printf("written again: the metadata; all data files are unchanged\n")
	default:
		c.printf("written again: %s\n", shortList(r.Files, maxLines))
	}
}
