package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
)

// updateDataset adds the sources to the dataset at dst: pack --update. there is false if there is none yet, and it is to be packed.
func updateDataset(cc *cli.Context, c *console, sources []string, dst string, o *writeOptions) (there bool, err error) {
	if cc.Bool("force") || cc.IsSet("format") {
		return true, usageErrorf("--update adds to one dataset: leave out --force and --format")
	}
	m, err := edit.Describe(cc.Context, dsconv.Formats(), dst)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return true, editError(err, false, dst)
	}
	if flag := changedFlag(cc, o, m); flag != "" {
		return true, usageErrorf("%s was packed with another --%s: repeat its options, or pack it again with --force in place of --update", dst, flag)
	}
	return true, addTo(cc, c, dst, m, sources, o)
}

// changedFlag returns a flag that asks for another recipe than that of a dataset, "" if none does.
func changedFlag(cc *cli.Context, o *writeOptions, m *formats.Meta) string {
	asked := o.convert.Recipe.Map()
	if o.convert.Create.Zstd > 0 {
		asked["compress"] = fmt.Sprintf("zstd:%d", o.convert.Create.Zstd)
	}
	if !o.convert.Split.FromSource() {
		asked["split"] = string(o.convert.Split)
	}
	for _, flag := range slices.Concat(recipeFlags, []string{"split"}) {
		if cc.IsSet(flag) && flag != "class-order" && asked[flag] != m.Recipe[flag] {
			return flag
		}
	}
	return ""
}
