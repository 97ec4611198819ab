package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
)

// checkSplit refuses a --split that the dataset has not.
func checkSplit(cc *cli.Context, ds formats.Dataset) error {
	name := cc.String("split")
	if !cc.IsSet("split") || name == "" {
		return nil
	}
	var names []string
	for _, s := range ds.Meta().Splits {
		if s.Name == name {
			return nil
		}
		names = append(names, printable(s.Name))
	}
	if names == nil {
		return usageErrorf("--split %s: the dataset has no splits", name)
	}
	return usageErrorf("--split %s: the dataset has the splits %s", name, strings.Join(names, ", "))
}

// shellWord is s as a shell reads it back.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=@%+"
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return s
	}
	return fmt.Sprintf("'%s'", strings.ReplaceAll(s, "'", `'\''`))
}
