package imagelmdb

import (
	"context"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/lmdbfile"
)

// findAbove finds what keys that are absolute paths begin with. Others stay as they are.
func (c *scanner) findAbove(ctx context.Context) error {
	common, shortest, first := "", 0, true
	err := c.each(ctx, func(n *lmdbfile.Node) (bool, error) {
		if !c.layout.isSample(n.Key()) {
			return true, nil
		}
		dir := path.Dir(string(n.Key())) + "/"
		if first {
			common, shortest, first = dir, len(dir), false
		}
		common, shortest = commonFolder(common, dir), min(shortest, len(dir))
		return strings.HasPrefix(common, "/"), nil
	})
	if strings.HasPrefix(common, "/") {
		c.layout.above = above(common, shortest == len(common))
	}
	return err
}

// commonFolder returns the folder that both are in or below. Folders end in a slash.
func commonFolder(a, b string) string {
	for !strings.HasPrefix(b, a) {
		a = a[:strings.LastIndexByte(strings.TrimSuffix(a, "/"), '/')+1]
	}
	return a
}

// above returns the part of a common folder that is no split and, if it has images, no class.
func above(common string, hasImages bool) string {
	folders := strings.Split(strings.Trim(common, "/"), "/")
	if hasImages {
		folders = folders[:len(folders)-1]
	}
	kept := "/"
	for _, name := range folders {
		if name == "" || formats.IsSplitWord(name) {
			break
		}
		kept += name + "/"
	}
	return kept
}
