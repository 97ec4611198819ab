package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// The README's commands and Python examples run as they stand, in their order, in one folder. Those that import dsconv are
// run by python/tests/test_docs.py, those in Go are compiled.
func TestREADMERuns(t *testing.T) {
	if !cgo {
		t.Skip("LMDB and HDF5 are written by their libraries")
	}
	formatcheck.Python(t, "import lmdb, h5py, webdataset, tfrecord, pyarrow, PIL") // skips before anything is packed
	makefile := string(read(t, "../../Makefile"))
	script, ran := &strings.Builder{}, map[string]int{}
	script.WriteString(readmePrelude)
	for _, b := range readmeBlocks(t, string(read(t, "../../README.md"))) {
		switch {
		case b.kind == "shell" && strings.HasPrefix(b.text, "make "):
			for _, target := range regexp.MustCompile(`make ([a-z-]+)`).FindAllStringSubmatch(b.text, -1) {
				if !strings.Contains(makefile, "\n"+target[1]+":") {
					t.Errorf("README.md:%d: the Makefile has no target %s", b.line, target[1])
				}
			}
			continue
		case b.kind == "shell" && strings.HasPrefix(b.text, "dsconv "):
			fmt.Fprintf(script, "shell(%s)\n", strconv.Quote(b.text))
		case b.kind == "python" && !strings.Contains(b.text, "import dsconv"):
			fmt.Fprintf(script, "%s\ncheck(%q)\n", b.text, b.text)
		case b.kind == "python", b.kind == "diff", b.kind == "go":
		default:
			t.Errorf("README.md:%d: nothing runs this %s block: %s", b.line, b.kind, b.text)
		}
		ran[b.kind]++
	}
	if ran["shell"] < 9 || ran["python"] < 6 || ran["diff"] != 1 || ran["go"] != 1 {
		t.Errorf("found %v in the README", ran)
	}
	dir := t.TempDir()
	program := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", asProgram, os.Args[0])
	must(t, os.WriteFile(filepath.Join(dir, "dsconv"), []byte(program), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "readme.py"), []byte(script.String()), 0o644))
	must(t, os.Mkdir(filepath.Join(dir, "work"), 0o755))
	cmd := exec.CommandContext(t.Context(), os.Getenv("DSCONV_PYTHON"), "../readme.py")
	cmd.Dir, cmd.Env = filepath.Join(dir, "work"), append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// readmePrelude makes the folder that the README packs, and checks what a block of Python has read.
const readmePrelude = `
import os
import subprocess

def shell(line):
    subprocess.run(["bash", "-euc", line], check=True)

def check(block):
    classes = sorted(os.listdir("images"))
    if "pixels" in block:
        assert pixels.shape == (256, 256, 3) and pixels.dtype == "uint8", pixels.shape
    else:
        assert image.convert("RGB").size == (64, 48), image
    if "samples" in block:
        assert len(samples) == 20
        for s in samples:
            assert classes[s["label"]] == s["key"].split("/")[0], s
    name = label[0] if hasattr(label, "__len__") and not isinstance(label, (bytes, str)) else label
    assert name in (0, 1) or name.decode() in classes, label

shell("dsconv synth images --n 20 --classes 2 --size 64x48 --quiet")
`

// readmeBlock is an indented line, or what is between fences.
type readmeBlock struct {
	kind string // shell, python, diff, go
	line int
	text string
}

func readmeBlocks(t *testing.T, text string) (list []readmeBlock) {
	t.Helper()
	lines, fenced := bufio.NewScanner(strings.NewReader(text)), false
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch last := len(list) - 1; {
		case strings.HasPrefix(line, "```"):
			if fenced = !fenced; fenced {
				list = append(list, readmeBlock{kind: line[3:], line: n})
			}
		case fenced:
			list[last].text += line + "\n"
		case strings.HasPrefix(line, "    "):
			list = append(list, readmeBlock{kind: "shell", line: n, text: strings.TrimSpace(line)})
		}
	}
	if fenced {
		t.Fatal("README.md: a block does not end")
	}
	return list
}
