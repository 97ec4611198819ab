package dsconv_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A Go snippet in a document is a piece of an example that is compiled: its lines follow one another in one file. A line
// "// ..." stands for lines that are left out.
func TestSnippetsInDocumentsCompile(t *testing.T) {
	programs := examplePrograms(t)
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, document := range append(documents, "README.md") {
		for _, snippet := range goSnippet.FindAllStringSubmatch(read(t, document), -1) {
			count++
			if !isPieceOfOne(snippet[1], programs) {
				t.Errorf("%s: this is in no example*_test.go and in no program of examples/:\n%s", document, snippet[1])
			}
		}
	}
	if count < 10 {
		t.Errorf("only %d snippets were found", count)
	}
}

var goSnippet = regexp.MustCompile("(?s)```go\n(.*?)```")

// The rows of a table have as many cells as its head: a line that an edit put into another table would not be noticed.
func TestTablesInDocumentsAreWhole(t *testing.T) {
	count := 0
	for _, pattern := range []string{"*.md", "*/*.md", "bench/*/*.md"} {
		documents, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range documents {
			head := 0 // the bars in the head of the table; 0 outside tables
			for line := range strings.Lines(read(t, document)) {
				bars := strings.Count(line, "|") - strings.Count(line, `\|`)
				switch {
				case !strings.HasPrefix(line, "|"):
					head = 0
				case head == 0:
					head, count = bars, count+1
				case bars != head:
					t.Errorf("%s: the table's head has %d bars, a row %d: %s", document, head, bars, line)
				}
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d tables were found", count)
	}
}

// examplePrograms returns the text of the examples' files, without indentation.
func examplePrograms(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"example*_test.go", "*/example*_test.go", "*/*/example*_test.go", "examples/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			list = append(list, "\n"+withoutIndent(read(t, file)))
		}
	}
	return list
}

func isPieceOfOne(snippet string, programs []string) bool {
	for _, program := range programs {
		found := true
		for part := range strings.SplitSeq(withoutIndent(snippet), "// ...\n") {
			at := strings.Index(program, "\n"+part)
			if found = at >= 0; !found {
				break
			}
			program = program[at+len(part):]
		}
		if found {
			return true
		}
	}
	return false
}

func withoutIndent(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimLeft(line, "\t"))
	}
	return out.String()
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The README's table of real photos has the figures of the file that it names.
func TestFiguresOfPhotosAreThoseOfTheFile(t *testing.T) {
	var kept struct {
		Commit   string
		Options  struct{ Rounds int }
		Datasets []struct {
			Seconds float64 `json:"epoch_seconds"`
			Rate    float64 `json:"images_per_second"`
			Ratio   float64
			Disk    float64 `json:"disk_bytes"`
			Samples int
		}
	}
	if err := json.Unmarshal([]byte(read(t, "lab/results/bench-photos.json")), &kept); err != nil {
		t.Fatal(err)
	}
	names := []string{"the folder", "packed unchanged", "`--encode jpeg-tiled`", "`--resize shorter:256 --encode jpeg:90`", "`--resize cover:256x256 --encode raw`"}
	if len(kept.Datasets) != len(names) {
		t.Fatalf("%d datasets, want %d", len(kept.Datasets), len(names))
	}
	readme := read(t, "README.md")
	for i, d := range kept.Datasets {
		ratio := fmt.Sprintf("%.1f", d.Ratio)
		if i == 0 {
			ratio = "1"
		}
		row := fmt.Sprintf("| %s | %.2f s | %s | %s | %.0f MB |\n", names[i], d.Seconds, thousands(d.Rate), ratio, d.Disk/1e6)
		if !strings.Contains(readme, row) {
			t.Errorf("README.md has no row %s", row)
		}
		if d.Samples != 800 {
			t.Errorf("%s: %d photos, not those of the clothing shop", names[i], d.Samples)
		}
	}
	for _, said := range []string{"at commit `" + kept.Commit + "`", fmt.Sprintf("medians of %d interleaved", kept.Options.Rounds)} {
		if !strings.Contains(strings.ReplaceAll(readme, "\n", " "), said) {
			t.Errorf("README.md does not say %q", said)
		}
	}
	if results := read(t, "lab/results/README.md"); !strings.Contains(results, "ROUNDS="+strconv.Itoa(kept.Options.Rounds)+"` | `"+kept.Commit+"` |") {
		t.Errorf("lab/results/README.md: wanted commit %s and %d rounds beside bench-photos.json", kept.Commit, kept.Options.Rounds)
	}
}

// thousands is the number without decimals, with a comma before each three digits.
func thousands(x float64) string {
	text := fmt.Sprintf("%.0f", x)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
