package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// The commands of docs/imagenet.md run as they stand, in their order, on sets that are made small. Its programs that import
// dsconv, and the commands that start them, are run by python/tests/test_imagenet_document.py.
func TestTheImageNetPageRuns(t *testing.T) {
	if !cgo {
		t.Skip("LMDB and HDF5 are written by their libraries")
	}
	if testing.Short() {
		t.Skip("it packs twenty times")
	}
	formatcheck.Python(t, "import lmdb, pyarrow, PIL") // skips before anything is packed
	dir := imageNetFolder(t)
	page, ran := read(t, "../../docs/imagenet.md"), map[string]int{}
	for _, b := range readmeBlocks(t, string(page)) {
		switch {
		case b.kind == "sh":
			for line := range strings.Lines(b.text) {
				program, _, _ := strings.Cut(line, " ")
				switch program {
				case "python", "torchrun":
				case "dsconv", "unzip", "mkdir", "mv", "cp":
					checkImageNetOutput(t, line, runLine(t, dir, shortened(strings.TrimSpace(line))))
				default:
					t.Errorf("docs/imagenet.md:%d: nothing runs %s", b.line, line)
				}
				ran[program]++
			}
		case b.kind == "shell": // what a block below has too
			if !strings.Contains(string(page), "\n"+b.text+"\n") {
				t.Errorf("docs/imagenet.md:%d: nothing runs %s", b.line, b.text)
			}
		case b.kind == "python" && !strings.Contains(b.text, "import dsconv"):
			must(t, os.WriteFile(filepath.Join(dir, "block.py"), []byte(b.text), 0o644))
			runLine(t, dir, "python3 block.py")
			ran["without dsconv"]++
		case b.kind != "python":
			t.Errorf("docs/imagenet.md:%d: nothing runs this %s block", b.line, b.kind)
		}
	}
	if ran["dsconv"] < 20 || ran["without dsconv"] != 1 {
		t.Errorf("ran %v", ran)
	}
	// That program finds a label that is another one.
	must(t, os.WriteFile(filepath.Join(dir, "labels.csv"), []byte("key,label\ntrain/n01440764/n01440764_10026,n02105855\n"), 0o644))
	runLine(t, dir, "dsconv relabel imagenet.lmdb labels.csv")
	if out, err := command(t, dir, "python3 block.py").CombinedOutput(); err == nil || !strings.Contains(string(out), "AssertionError: train/n01440764/n01440764_10026") {
		t.Errorf("a wrong label was not found: %v\n%s", err, out)
	}
}

// imageNetFolder makes the sets of docs/imagenet.md, and a folder bin with dsconv and python3.
func imageNetFolder(t *testing.T) string {
	t.Helper()
	formatcheck.Python(t, "import PIL")
	if out, err := exec.CommandContext(t.Context(), os.Getenv("DSCONV_PYTHON"), "-c", "import scipy.io").CombinedOutput(); err != nil {
		t.Skipf("scipy is not installed: %s", out)
	}
	maker, err := filepath.Abs("../../python/tests/made_imagenet.py")
	must(t, err)
	dir := t.TempDir()
	for _, name := range []string{"bin", "tmp"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	for name, program := range map[string]string{
		"dsconv":  fmt.Sprintf("%s=1 exec %q", asProgram, os.Args[0]),
		"python3": `exec "$DSCONV_PYTHON"`,
	} {
		must(t, os.WriteFile(filepath.Join(dir, "bin", name), []byte("#!/bin/sh\n"+program+` "$@"`+"\n"), 0o755))
	}
	runLine(t, dir, fmt.Sprintf("python3 %q .", maker))
	return dir
}

func command(t *testing.T, dir, line string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", line)
	bin := filepath.Join(dir, "bin")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+filepath.Join(dir, "tmp"))
	return cmd
}

func isExit(err error, code int) bool {
	var e *exec.ExitError
	return errors.As(err, &e) && e.ExitCode() == code
}

// runLine runs a line of the page and returns what it prints.
func runLine(t *testing.T, dir, line string) string {
	t.Helper()
	out, err := command(t, dir, line).CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", line, err, out)
	}
	return string(out)
}

// shortened lets the commands that measure do so once, with fewer ways to pack: here nobody reads their figures.
func shortened(line string) string {
	switch {
	case strings.HasPrefix(line, "dsconv plan "):
		return line + " --rounds 1 --sample 2 --resize none --encode jpeg-tiled"
	case strings.HasPrefix(line, "dsconv bench "):
		return line + " --rounds 1"
	}
	return line
}

// checkImageNetOutput checks what the page says of the output.
func checkImageNetOutput(t *testing.T, line, out string) {
	t.Helper()
	var want []string
	switch words := strings.Fields(line); words[0] + " " + words[1] {
	case "dsconv pack":
		if !strings.Contains(line, "--dry-run") {
			want = []string{"+ skipped 0 + failed 0\n"}
		}
	case "dsconv diff":
		want = []string{"0 added, 0 removed, 0 changed\n"}
	case "dsconv info":
		if words[2] == "imagenet.lmdb" || words[2] == "small.lmdb" {
			want = []string{"train: 7\n", "val: 5\n", "3 classes"}
		}
	}
	for _, text := range want {
		if !strings.Contains(out, text) {
			t.Errorf("%s: no %q in\n%s", line, text, out)
		}
	}
}

// What the page says of ImageNet's irregular files.
func TestIrregularFilesOfImageNet(t *testing.T) {
	if !cgo {
		t.Skip("a build without cgo does not tile")
	}
	dir := imageNetFolder(t)
	for _, options := range []string{"", " --encode jpeg-tiled", " --encode jpeg:90", " --check decode", " --check decode --strict"} {
		out, err := command(t, dir, "dsconv pack irregular out.tar --force"+options).CombinedOutput()
		if !isExit(err, exitSkipped) {
			t.Fatalf("%s: %v\n%s", options, err, out)
		}
		report := string(read(t, filepath.Join(dir, "out.tar.report.csv")))
		for _, name := range []string{"cut_1", "empty_2", "html_3"} {
			if !strings.Contains(report, "n01739381/"+name+".JPEG,field image: ") {
				t.Errorf("%s: the report does not name %s:\n%s", options, name, report)
			}
		}
		const damaged = "n01739381/damaged_4.JPEG,Corrupt JPEG data: "
		decodes, strict := options != "", strings.Contains(options, "strict")
		if strings.Contains(report, "damaged_4") != decodes || decodes && !strict && !strings.Contains(report, damaged) {
			t.Errorf("%s: %s", options, report)
		}
		written := 7
		if strict {
			written--
		}
		for _, want := range []string{fmt.Sprintf("found 10 = written %d + skipped %d + failed 0\n", written, 10-written), "1 images have an EXIF orientation"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: no %q in\n%s", options, want, out)
			}
		}
		names := runLine(t, dir, "tar tf out.tar")
		if strings.Contains(names, "n02105855_2933.png") == strings.Contains(options, "jpeg:90") || !strings.Contains(names, "n01739381_1309.jpg") {
			t.Errorf("%s: %s", options, names)
		}
	}
	runLine(t, dir, "dsconv pack irregular out.lmdb || test $? = 3")
	runLine(t, dir, "dsconv verify --parity irregular out.lmdb") // its pixels are Pillow's convert("RGB")
	if out, err := command(t, dir, "dsconv pack irregular failed.tar --on-error fail").CombinedOutput(); !isExit(err, 1) {
		t.Errorf("--on-error fail: %v\n%s", err, out)
	}
}

// The page's table is computed from lab/results/prediction.json as the page says.
func TestTheImageNetTableIsThatOfTheFile(t *testing.T) {
	const all, train, tars = 1281167 + 50000, 1281167, 147897477120 + 6744924160
	var kept struct {
		Rows []struct {
			Set, Command string
			Images       float64
			Plan         map[string]struct{ Measured float64 }
		}
	}
	must(t, json.Unmarshal(read(t, "../../lab/results/prediction.json"), &kept))
	page, before, rows := string(read(t, "../../docs/imagenet.md")), 0.0, 0
	for _, r := range kept.Rows {
		if r.Set != "demo" {
			continue
		}
		epoch, bytes, pack := r.Plan["epoch_seconds"].Measured/r.Images, r.Plan["bytes"].Measured/r.Images, r.Plan["pack_seconds"].Measured/r.Images
		name, disk, packing := "`"+r.Command+"`", bytes*all, fmt.Sprintf("%.0f min", pack*all/60)
		switch r.Command {
		case "unchanged":
			name, disk, packing, before = "packed unchanged", tars, "as copying 155 GB", bytes
		case "--encode jpeg-tiled":
			disk = tars * bytes / before
		}
		row := fmt.Sprintf("| %s | %.0f GB | %s | %.1f min | %.1f |\n", name, disk/1e9, packing, epoch*train/60, 10000*2*epoch)
		if rows++; !strings.Contains(page, row) {
			t.Errorf("docs/imagenet.md has no row %s", row)
		}
	}
	if rows != 4 {
		t.Errorf("%d rows", rows)
	}
}
