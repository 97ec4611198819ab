package main

import (
	"fmt"

	"github.com/dsconv/dsconv"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
)

// repair restores the damaged samples of the dataset at path from its source, or from any dataset with
// the same samples.
func repair(cc *cli.Context, c *console, path, from string, show *runProgress, o edit.RepairOptions) (*edit.Repaired, error) {
	m := o.Found.Meta
	if m == nil {
		m = &formats.Meta{} // edit.Repair says that it is lost
	}
	cfg, err := packedConfig(cc, path, m, from)
	if err != nil {
		return nil, err
	}
	src, err := openSource(cc, from, cfg)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	gpu, err := openEditGPU(cc, m)
	if err != nil {
		return nil, err
	}
	defer gpu.close()
	o.GPU = gpu.GPU
	o.Progress, o.Command = show.show, c.commandLine()
	r, err := edit.Repair(cc.Context, dsconv.Formats(), path, src, o)
	show.end()
	if err != nil {
		return nil, editError(gpu.explain(path, err), r != nil && !r.Published, path)
	}
	return &r.Repaired, nil
}

func printRepaired(c *console, r *edit.Repaired) {
	for _, name := range r.Description {
		c.printf("restored: %s\n", name)
	}
	printFirst(c, r.Restored, maxLines, " restored samples (--json lists all)", func(key string) string { return "restored: " + printable(key) })
	if r.Forgotten > 0 {
		c.printf("the list of %d samples removed by hand is lost: dsconv add will add them again\n", r.Forgotten)
	}
	printFirst(c, r.Lost, maxLines, " lost samples (--json lists all)", func(l edit.Lost) string { return fmt.Sprintf("lost: %s: %s", printable(l.Key), printable(l.Cause)) })
	switch {
	case len(r.Lost) > 0:
		c.printf("nothing was changed: %d samples cannot be restored from this source; remove them with dsconv rm, or use another source\n", len(r.Lost))
	case len(r.Description) > 0 && r.Rewritten != nil && len(r.Rewritten) == 0:
	case r.Rewritten == nil:
		c.printf("written again: all files\n")
	case len(r.Rewritten) == 0:
		c.printf("written again: the metadata; all data files are unchanged\n")
	default:
		c.printf("written again: %s\n", shortList(r.Rewritten, maxLines))
	}
}
