package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// A resume notices a label that has changed since, of any type and in any column, and another label
// type.
func TestLabelChangesAreNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		flags, again []string // of the pack and of its resume
		cell         string   // that an image which was packed has by then
		says         string   // "": it resumes
	}{
		"nothing":           {[]string{"--label-type=float"}, nil, "0.5", ""},
		"a number":          {[]string{"--label-type=float"}, nil, "0.25", "1 changed: "},
		"the second column": {[]string{"--label-columns=name,label", "--label-type=label=float"}, nil, "0.25", "(other labels)"},
		"several labels":    {[]string{"--label-sep=.", "--label-type=name"}, nil, "0.1", "(other labels)"},
		"one class":         {[]string{"--label-type=name"}, nil, "1", "(label 2, was 1)"},
		"another type":      {[]string{"--label-type=float"}, []string{"--label-type=name"}, "0.5", `label-type was "float", now "name"`},
	} {
		t.Run(name, func(t *testing.T) {
			src := samples(t, "60", "64x48")
			dir := t.TempDir()
			dst, table := filepath.Join(dir, "out.tar"), filepath.Join(dir, "labels.csv")
			put := func(cell string) {
				text := "path,label,name\n"
				for i, image := range imagesOf(t, src) {
					rel, err := filepath.Rel(src, image)
					must(t, err)
					switch i {
					case 0:
						text += fmt.Sprintf("%s,0,x\n", rel)
					case 1:
						text += fmt.Sprintf("%s,1,x\n", rel)
					case 3:
						text += fmt.Sprintf("%s,%s,x\n", rel, cell)
					default:
						text += fmt.Sprintf("%s,0.5,x\n", rel)
					}
				}
				must(t, os.WriteFile(table, []byte(text), 0o644))
			}
			put("0.5")
			interrupt(t, src, dst, slices.Concat(c.flags, []string{"--labels=" + table})...)
			put(c.cell)
			flags := c.flags
			if c.again != nil {
				flags = c.again
			}
			code, said := packTo(t, src, dst, slices.Concat(often, flags, []string{"--labels=" + table})...)
			if c.says != "" {
				if code != exitFailed || !strings.Contains(said, c.says) || !strings.Contains(said, "--discard") {
					t.Errorf("exit code %d: %s", code, said)
				}
				return
			}
			// The table lies beside the dataset, as the other does: the recipe has its path from there.
			fresh := filepath.Join(t.TempDir(), "out.tar")
			if code != exitDone || !strings.Contains(said, "were done before") {
				t.Fatalf("exit code %d: %s", code, said)
			}
			same := filepath.Join(filepath.Dir(fresh), filepath.Base(table))
			must(t, os.Rename(table, same))
			if code, said := packTo(t, src, fresh, slices.Concat(often, flags, []string{"--labels=" + same})...); code != exitDone {
				t.Fatalf("exit code %d: %s", code, said)
			}
			must(t, os.Remove(same))
			formatcheck.SameTrees(t, formatcheck.Tree(t, dir), formatcheck.Tree(t, filepath.Dir(fresh)))
		})
	}
}
