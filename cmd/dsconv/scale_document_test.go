package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/scale.md run as they stand, in their order, on a few painted images. What is only shown, such as
// commands of Slurm, is tested by lab/engines/tests.
func TestTheScalePageRuns(t *testing.T) {
	if !cgo {
		t.Skip("LMDB is written by its library")
	}
	dir := scaleFolder(t)
	page, ran := string(read(t, "../../docs/scale.md")), map[string]int{}
	for _, b := range readmeBlocks(t, page) {
		if b.kind != "sh" {
			continue
		}
		for line := range strings.Lines(b.text) {
			program, _, _ := strings.Cut(line, " ")
			if program != "dsconv" && program != "mkdir" && program != "cp" {
				t.Errorf("docs/scale.md:%d: nothing runs %s", b.line, line)
				continue
			}
			out := runLine(t, dir, strings.TrimSpace(line))
			if line == "dsconv shards missing plan.json\n" && strings.Count(out, "\n") != 15 {
				t.Errorf("after shard 0 was packed, %s prints %s", line, out)
			}
			ran[program]++
		}
	}
	if ran["dsconv"] < 9 {
		t.Errorf("ran %v", ran)
	}
	runLine(t, dir, "mkdir one && dsconv pack images/ 'one/train-%06d.tar' --shards 16 --resize shorter:256 --encode jpeg:90")
	runLine(t, dir, "diff -r out one") // as the page says, byte for byte
}

// scaleFolder makes a folder with images, and a folder bin with dsconv.
func scaleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bin", "tmp"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	program := fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", asProgram, os.Args[0])
	must(t, os.WriteFile(filepath.Join(dir, "bin", "dsconv"), []byte(program), 0o755))
	runLine(t, dir, "dsconv synth images --n 48 --classes 2 --size 64x48 --quiet")
	return dir
}

// The files that the page names are there.
func TestTheFilesOfTheScalePageExist(t *testing.T) {
	found := regexp.MustCompile(`\]\(\.\./(examples/[^)]*)\)`).FindAllStringSubmatch(string(read(t, "../../docs/scale.md")), -1)
	if len(found) < 6 {
		t.Errorf("only %d links were found", len(found))
	}
	for _, link := range found {
		if _, err := os.Stat(filepath.Join("../..", link[1])); err != nil {
			t.Error(err)
		}
	}
}
