package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// patternHelp is the rule of --include and --exclude; see formats.Patterns.
const patternHelp = `PATTERN of --include and --exclude, a path or a name in SRC; case counts:
   '*.png', 'n01*'    files of such a name, in any folder
   test, 'n01*/'      folders of such a name, and all that is in them
   'train/*/a?.jpg'   a pattern with a / within it or at its beginning is a path from SRC on
   'test/*', '/test/' so is a folder: all that is in it
   '**/x/**/*.png'    ** stands for any number of folders; * and ? never for a /
   '*.{png,jpg}'      one or the other; [a-z] is one of these characters, \ takes the next as it is
Several patterns: repeat the flag, or put commas between them. Without --include all images
are taken; --exclude is stronger. A pattern that matches nothing is named at the end.`

// takeOf reads --include and --exclude.
func parsePatterns(cc *cli.Context) formats.Patterns {
	return formats.Patterns{Include: splitPatternFlag(cc, "include"), Exclude: splitPatternFlag(cc, "exclude")}
}

func splitPatternFlag(cc *cli.Context, flag string) []string {
	var patterns []string
	for _, list := range cc.StringSlice(flag) {
		for _, p := range formats.SplitPatterns(list) {
			patterns = append(patterns, strings.TrimSpace(p))
		}
	}
	return patterns
}

// takeAgain is what add takes: as the recipe says, but for the flags that are given.
func addPatterns(cc *cli.Context, recipe map[string]string) (formats.Patterns, error) {
	was, now := formats.PatternsOf(recipe), parsePatterns(cc)
	both := cc.IsSet("include") == cc.IsSet("exclude")
	switch {
	case both && cc.IsSet("include"):
		return now, nil
	case both:
		return was, nil
	case cc.IsSet("include"):
		now.Exclude = was.Exclude
	default:
		now.Include = was.Include
	}
	kept := formats.Patterns{Include: was.Include, Exclude: was.Exclude}
	if cc.IsSet("include") {
		kept.Include = nil
	} else {
		kept.Exclude = nil
	}
	if was.Old && kept.NeedFolders() {
		return now, usageErrorf("the dataset was packed with %s by an older dsconv, where patterns knew no folders: give this option, too", kept)
	}
	return now, nil
}

// unmatched are the patterns that no image of the source fits, and no folder.
func findUnmatched(src formats.Dataset, take formats.Patterns) (*formats.Patterns, error) {
	if len(take.Include)+len(take.Exclude) == 0 {
		return nil, nil
	}
	var left formats.Patterns
	if f, ok := src.(*folder.Dataset); ok {
		left = f.Unmatched()
	} else {
		c, err := take.Chooser()
		if err != nil {
			return nil, err
		}
		for i := range src.Len() {
			in, err := src.Info(i)
			if err != nil {
				return nil, err
			}
			c.File(in.Name())
		}
		left = c.Unmatched()
	}
	if len(left.Include)+len(left.Exclude) == 0 {
		return nil, nil
	}
	return &left, nil
}

// printUnmatched names the patterns that match nothing.
func printUnmatched(c *console, p *formats.Patterns) {
	if p == nil {
		return
	}
	for _, text := range p.Include {
		c.printf("--include %q matches nothing%s\n", text, unmatchedHint(text))
	}
	for _, text := range p.Exclude {
		c.printf("--exclude %q matches nothing%s\n", text, unmatchedHint(text))
	}
}

// insteadOf is a hint for a pattern that was perhaps meant for folders.
func unmatchedHint(text string) string {
	if text == "" || strings.ContainsAny(text, "/.") || !strings.ContainsAny(text, `*?[]{}\`) {
		return "" // a plain word was compared with folders too
	}
	return ": without a / it is for names of files; " + text + "/ is for folders"
}
