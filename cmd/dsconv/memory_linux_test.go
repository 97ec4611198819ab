package main

import (
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsconv/dsconv/internal/testing/hostile"
)

// hostilePeak is the most memory of a process that works on files that claim very large images: the
// memory budget, the samples in the pipeline and the program itself.
const hostilePeak = 1500 << 20 * 1000 / 1048 // 1.5 GB

// hostileFolder has files that claim very large images, and a few sound ones.
func hostileFolder(t *testing.T) (dir string, files int) {
	t.Helper()
	dir = samples(t, "10", "40x30")
	must(t, hostile.Write(filepath.Join(dir, "hostile")))
	return dir, len(hostile.Images())
}

// peakOf runs dsconv as a process and returns its output, its exit code and its largest resident
// size.
func peakOf(t *testing.T, args ...string) (said string, code int, peak int64) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute) // for a hang alone
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no resource usage")
	}
	return string(b), cmd.ProcessState.ExitCode(), usage.Maxrss << 10
}

// Every kind of resize and of encoding packs the good files of a folder of hostile files, reports the
// others and stays within its memory budget. A loader does the same.
func TestHostileFilesTakeLittle(t *testing.T) {
	if !cgo {
		t.Skip("LMDB is written by its library")
	}
	src, files := hostileFolder(t)
	for _, flags := range hostilePacks() {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			dst := filepath.Join(t.TempDir(), "x.lmdb")
			said, code, peak := peakOf(t, append([]string{"pack", src, dst, "--workers", "3", "--max-skipped", "100%"}, flags...)...)
			if code != exitSkipped || peak > hostilePeak {
				t.Fatalf("exit code %d, a peak of %d MB\n%s", code, peak/1e6, said)
			}
			checkSkips(t, dst, files)
			t.Logf("a peak of %d MB", peak/1e6)
		})
	}
	if testing.Short() { // the packs decode the same files
		return
	}
	for _, ops := range hostileLoads() {
		t.Run(ops, func(t *testing.T) {
			said, code, peak := peakOf(t, "bench", src, "--augment", ops, "--on-error", "skip", "--workers", "3",
				"--batch", "16", "--rounds", "1", "--epochs", "1")
			if code != exitDone || peak > hostilePeak || !strings.Contains(said, "reads of bad samples") {
				t.Fatalf("exit code %d, a peak of %d MB\n%s", code, peak/1e6, said)
			}
			t.Logf("a peak of %d MB", peak/1e6)
		})
	}
}

// hostileLoads are augmentations. A quick run has the one that takes most.
func hostileLoads() []string {
	if quick() {
		return []string{"resize:256,rotate:10,centercrop:224"}
	}
	return []string{"resize:256,rotate:10,centercrop:224", "rrc:224,flip"}
}

// hostilePacks are options of pack: each kind of resize and of encoding. A quick run has those that take most.
func hostilePacks() [][]string {
	list := [][]string{
		{"--resize", "cover:256x256", "--encode", "jpeg:90:progressive"},
		{"--encode", "raw", "--compress", "zstd"},
		{"--encode", "jpeg:90"},
	}
	if testing.Short() {
		return list[:1]
	}
	if quick() {
		return list
	}
	return append(
		list,
		[]string{"--resize", "fit:256x200", "--filter", "lanczos", "--encode", "png"},
		[]string{"--resize", "exact:256x256", "--encode", "jpeg:90"},
		[]string{"--resize", "shorter:256", "--upscale", "--encode", "raw"},
		[]string{"--resize", "longer:256", "--encode", "png"},
		[]string{"--resize", "cover:64x64", "--filter", "nearest", "--color", "keep", "--encode", "png"},
		[]string{"--encode", "raw"},
	)
}

// checkSkips checks which files were skipped, and the causes.
func checkSkips(t *testing.T, dst string, files int) {
	t.Helper()
	f, err := os.Open(dst + ".report.csv")
	must(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must(t, err)
	if len(rows) < 2 || len(rows) > files+1 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows[1:] {
		if !strings.HasPrefix(row[0], "hostile/") || row[2] == "skipped" && !strings.Contains(row[1], "too many pixels") && !strings.Contains(row[1], "JPEG cannot hold") {
			t.Errorf("%q", row)
		}
	}
}
