package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
)

// patternHelp explains --include and --exclude; see formats.Patterns.
const patternHelp = `PATTERN of --include and --exclude is a name or a path in SRC. Case matters:
   '*.png', 'n01*'    files with that name, in any folder
   test, 'n01*/'      folders with that name, with everything in them
   'train/*/a?.jpg'   a pattern that starts with a / or has one inside is a path relative to SRC
   'test/*', '/test/' the path of a folder, with everything in it
   '**/x/**/*.png'    ** matches any number of folders; * and ? do not match a /
   '*.{png,jpg}'      matches either; [a-z] matches one of these characters, \ escapes the next one
For several patterns repeat the flag, or separate them by commas. Without --include all images
are packed. --exclude overrides --include. A pattern that matches nothing is reported.`

// parsePatterns parses --include and --exclude.
func parsePatterns(cc *cli.Context) formats.Patterns {
	return formats.Patterns{Include: splitPatternFlag(cc, "include"), Exclude: splitPatternFlag(cc, "exclude")}
}

func splitPatternFlag(cc *cli.Context, flag string) []string {
	var patterns []string
	for _, list := range cc.StringSlice(flag) {
		for _, p := range formats.ParsePatterns(list) {
			patterns = append(patterns, strings.TrimSpace(p))
		}
	}
	return patterns
}

// addPatterns returns the patterns of add: those of the flags, else those of the dataset's recipe.
func addPatterns(cc *cli.Context, recipe map[string]string) formats.Patterns {
	was, now := formats.PatternsFromRecipe(recipe), parsePatterns(cc)
	if !cc.IsSet("include") {
		now.Include = was.Include
	}
	if !cc.IsSet("exclude") {
		now.Exclude = was.Exclude
	}
	return now
}

// printUnmatched prints the patterns that match nothing.
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

// unmatchedHint returns a hint for a pattern that was perhaps meant for folders.
func unmatchedHint(text string) string {
	if text == "" || strings.ContainsAny(text, "/.") || !strings.ContainsAny(text, `*?[]{}\`) {
		return "" // a plain name matches folders too
	}
	return ": it matches names of files only; " + text + "/ matches folders"
}
