package formats_test

import (
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// tree are the files of a collection with train/, val/ and test/, as ImageNet's lies there.
var tree = []string{
	"test/1.jpg", "test/x/2.png", "top.jpg", "train/n01/n01_1.jpg", "train/n01/n01_2.png", "train/n02/n02_1.jpg",
	"train/test/3.jpg", "val/n01/a,b.jpg", "val/n01/v{1}.jpg",
}

func chosen(t *testing.T, p formats.Patterns) []string {
	t.Helper()
	c, err := p.Compile()
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	var files []string
	for _, rel := range tree {
		if c.IncludesFile(rel) {
			files = append(files, rel)
		}
	}
	return files
}

// What each pattern is compared with: the table of dsconv pack --help.
func TestPatterns(t *testing.T) {
	inTest := []string{"test/1.jpg", "test/x/2.png"}
	anyTest := append(slices.Clone(inTest), "train/test/3.jpg")
	png := []string{"test/x/2.png", "train/n01/n01_2.png"}
	for pattern, want := range map[string][]string{
		"test/*": inTest, "/test": inTest, "/test/": inTest, "./test": inTest, "./test/": inTest, "./test/*": inTest,
		"test/**": inTest, "test//*": inTest, "/test/**/*": inTest,
		"test": anyTest, "test/": anyTest, "**/test": anyTest, "**/test/": anyTest, "**/test/**": anyTest, "t?st/": anyTest,
		"te*": nil, "Test/*": nil, "test/*/": {"test/x/2.png"},
		"*.png": png, "**/*.png": png, "**/n01_2.png": {"train/n01/n01_2.png"}, "*.{png,gif}": png, "*.[!j]*": png, "*.[^j]*": png,
		"train/*.png": nil, "train/**/*.png": {"train/n01/n01_2.png"}, "train/*/*.png": {"train/n01/n01_2.png"},
		"{train,val}/n01": {"train/n01/n01_1.jpg", "train/n01/n01_2.png", "val/n01/a,b.jpg", "val/n01/v{1}.jpg"},
		"/*.jpg":          {"top.jpg"}, "top.jpg": {"top.jpg"},
		`a\,b.jpg`: {"val/n01/a,b.jpg"}, "v{1}.jpg": {"val/n01/v{1}.jpg"}, `v\{1\}.jpg`: {"val/n01/v{1}.jpg"}, "val/*/v{1}.jpg": {"val/n01/v{1}.jpg"},
		"": nil, "/srv/images/test": nil, "../images/test": nil,
		"/": tree, ".": tree, "./": tree, "**": tree, "*": tree, "/**": tree, "/*": tree, "**/*": tree,
	} {
		if got := chosen(t, formats.Patterns{Include: []string{pattern}}); !slices.Equal(got, want) {
			t.Errorf("--include %q takes %q, want %q", pattern, got, want)
		}
		left := slices.DeleteFunc(slices.Clone(tree), func(rel string) bool { return slices.Contains(want, rel) })
		if got := chosen(t, formats.Patterns{Exclude: []string{pattern}}); !slices.Equal(got, left) {
			t.Errorf("--exclude %q leaves %q, want %q", pattern, got, left)
		}
	}
	for _, bad := range []string{"[", "a/[", "{a,b", "a/{b", `a/\`, `\`} {
		if err := (formats.Patterns{Exclude: []string{bad}}).Validate(); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

// A folder is left out where a pattern fits the folder itself, not where it fits what is in it.
func TestPatternsOfFolders(t *testing.T) {
	for pattern, want := range map[string]bool{
		"test": false, "test/": false, "/test": false, "**/test": false, "test/*": true, "test/**": true, "tes*": true, "": true,
	} {
		c, err := formats.Patterns{Exclude: []string{pattern}}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if c.IncludesFolder("test") != want || c.IncludesFile("test/a.jpg") != (pattern == "tes*" || pattern == "") {
			t.Errorf("%q: the folder stays: %v, its file: %v", pattern, c.IncludesFolder("test"), c.IncludesFile("test/a.jpg"))
		}
	}
}

func TestUnmatchedPatterns(t *testing.T) {
	c, err := formats.Patterns{Include: []string{"*.jpg", "*.gif"}, Exclude: []string{"test/", "tset/", "*.jpg"}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, rel := range tree {
		c.IncludesFile(rel)
	}
	if got, want := c.Unmatched().String(), `--include "*.gif", --exclude "tset/"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A recipe gives the patterns back that it was made of.
func TestPatternsInRecipes(t *testing.T) {
	for _, p := range []formats.Patterns{
		{Include: []string{"*.png", "n01*"}},
		{Include: []string{"*.{png,jpg}", "test"}, Exclude: []string{"test/*", `a\,b.jpg`, "[,]*"}},
	} {
		back := formats.PatternsFromRecipe(p.Recipe())
		if !slices.Equal(back.Include, p.Include) || !slices.Equal(back.Exclude, p.Exclude) {
			t.Errorf("%v became %v", p, back)
		}
	}
	comma := formats.Patterns{Include: []string{"a,b.jpg"}}
	if got := chosen(t, formats.PatternsFromRecipe(comma.Recipe())); !slices.Equal(got, []string{"val/n01/a,b.jpg"}) {
		t.Errorf("a pattern with a comma takes %q", got)
	}
}
