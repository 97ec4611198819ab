package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// listFlags are the flags of a source that can be given several times. A recipe has a line for each.
var listFlags = []string{"field", "boxes", "captions"}

// sourceFlag returns the value of a flag for folderConfig.
func sourceFlag(cc *cli.Context) func(name string) string {
	return func(name string) string {
		if !slices.Contains(listFlags, name) {
			return cc.String(name)
		}
		var list []string
		for _, item := range cc.StringSlice(name) {
			if in, _ := recipepath.ForFolder(item); name != "field" && in != "" && fileExists(item) {
				item = "./" + item // it is no FOLDER=FILE
			}
			list = append(list, item)
		}
		return strings.Join(list, "\n")
	}
}

// splitLines splits a list of folderConfig.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// printFields prints what was found for the fields of samples.
func printFields(c *console, fields []folder.FieldSummary, indent string) {
	for _, f := range fields {
		text := fmt.Sprintf("field %s (%s): %d from %s", f.Name, f.Kind, f.Found, printable(f.From))
		if f.Missing > 0 {
			text += fmt.Sprintf("; %d images have none", f.Missing)
		}
		if f.Unused > 0 {
			text += fmt.Sprintf("; %d belong to no image, such as %s", f.Unused, printable(f.Example))
		}
		if f.Note != "" {
			text += "; " + printable(f.Note)
		}
		c.printf("%s%s\n", indent, text)
	}
}
