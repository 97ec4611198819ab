package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/dsconv/dsconv/convert"
)

// sameScreen compares what a terminal shows with testdata/screens/NAME. DSCONV_WRITE_SCREENS=1 writes it.
func sameScreen(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name)
	if os.Getenv("DSCONV_WRITE_SCREENS") != "" {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// states are moments of runs.
var states = []struct {
	name string
	p    convert.Progress
}{
	{"the first image", convert.Progress{Path: "out.lmdb", Done: 1, Total: 60000, BytesIn: 3120, Elapsed: 40 * time.Millisecond}},
	{"in the middle", convert.Progress{Path: "out.lmdb", Done: 12345, Total: 60000, BytesIn: 1234567890, Elapsed: 25 * time.Second}},
	{"resumed", convert.Progress{Path: "out.lmdb", Done: 50100, Resumed: 50000, Total: 60000, BytesIn: 5 << 30, Elapsed: 10 * time.Second}},
	{"skipped", convert.Progress{Path: "out/train-%06d.tfrecord", Done: 640000, Total: 1281167, Skipped: 1203, BytesIn: 71e9, Elapsed: 33 * time.Minute}},
	{"slow", convert.Progress{Path: "/mnt/nas/2024/photos of the whole year/all the photos.lmdb", Done: 12, Total: 100000, BytesIn: 1 << 20, Elapsed: time.Minute}},
	{"ten million", convert.Progress{Path: "out.tar", Done: 9999999, Total: 10000000, BytesIn: 1e12, Elapsed: 5 * time.Hour}},
	{"wide", convert.Progress{Path: "数据集/二〇二四年的训练图像.lmdb", Done: 5000, Total: 60000, BytesIn: 1e9, Elapsed: 10 * time.Second}},
	{"combining", convert.Progress{Path: "e\u0301te\u0301/zu\u0308rich-bru\u0308cken-und-ma\u0308rkte.lmdb", Done: 5000, Total: 60000, BytesIn: 1e9, Elapsed: 10 * time.Second}},
	{"hostile", convert.Progress{Path: "a\x1b[2Jb\n.lmdb", Done: 5000, Total: 60000, BytesIn: 1e9, Elapsed: 10 * time.Second}},
	{"comparing", convert.Progress{Path: "out.lmdb", Step: convert.StepCompare, Done: 5000, Total: 60000, Elapsed: 10 * time.Second}},
	{"the last image", convert.Progress{Path: "out.lmdb", Done: 60000, Total: 60000, BytesIn: 6e9, Elapsed: 2 * time.Minute}},
	{"finishing", convert.Progress{Path: "out.lmdb", Step: convert.StepFinish, Done: 60000, Total: 60000, BytesIn: 6e9, Elapsed: 2 * time.Minute}},
}

// TestProgressLines: the line fits into every width, and says the most important things first.
func TestProgressLines(t *testing.T) {
	var b strings.Builder
	for _, state := range states {
		r := &runProgress{words: imageWords, now: state.p}
		r.rate.add(state.p)
		fmt.Fprintf(&b, "# %s\n", state.name)
		for _, columns := range []int{200, 80, 40, 20, 8} {
			fmt.Fprintf(&b, "%3d: %s\n", columns, strings.TrimRight(r.line(columns-1), " "))
		}
		for width := 1; width <= 250; width++ {
			if line := r.line(width); runewidth.StringWidth(line) > width || strings.ContainsAny(line, "\n\x1b") {
				t.Errorf("%s, %d columns: %q", state.name, width, line)
			}
		}
	}
	sameScreen(t, "progress.txt", b.String())
}

// TestRemainingTime: it follows the rate of the last half minute, counts only what this run did, and ends
// at 0.
func TestRemainingTime(t *testing.T) {
	r := &runProgress{words: imageWords}
	at := func(done int, seconds float64) string {
		r.now = convert.Progress{Path: "x", Done: done, Total: 10000, Resumed: 5000, Elapsed: time.Duration(seconds * float64(time.Second))}
		r.rate.add(r.now)
		return r.details()
	}
	for _, c := range []struct {
		done    int
		seconds float64
		want    string
	}{
		{5010, 1, "5010 of 10000 images, 10 images/s, 8m19s left"},
		{5100, 10, "5100 of 10000 images, 10 images/s, 8m10s left"},
		{5400, 40, "5400 of 10000 images, 10 images/s, 7m40s left"},
		{6400, 50, "6400 of 10000 images, 32 images/s, 1m51s left"}, // since 10 s
		{8400, 70, "8400 of 10000 images, 100 images/s, 16s left"},
		{10000, 86, "10000 of 10000 images, 100 images/s, 0s left"},
	} {
		if got := at(c.done, c.seconds); got != c.want {
			t.Errorf("after %v s: %s, want %s", c.seconds, got, c.want)
		}
	}
	before := 1e9
	for i := range 2000 { // a run with a pause for the disk at each 100th image
		done, seconds := i*5, float64(i)/10+float64(i*5/100)*0.5
		r.now = convert.Progress{Path: "y", Done: done, Total: 10000, Elapsed: time.Duration(seconds * float64(time.Second))}
		if i == 0 {
			r.rate = nil
		}
		r.rate.add(r.now)
		rate := r.rate.perSecond()
		if seconds < 60 {
			continue
		}
		left := float64(10000-done) / rate
		if left > before+3 {
			t.Errorf("after %.0f s %.0f s are left, and %.0f s before", seconds, left, before)
		}
		before = min(before, left)
	}
}

// TestProgressWithoutTerminal: no control codes, no bar; JSON has the steps.
func TestProgressWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	r := &runProgress{c: &console{out: &out, err: &out}, words: imageWords, asJSON: true}
	for _, p := range []convert.Progress{
		{Path: "a", Done: 1, Total: 9, Resumed: 1},
		{Path: "a", Done: 9, Total: 9, Step: convert.StepFinish},
		{Path: "a", Done: 9, Total: 9},
		{Path: "b", Done: 1, Total: 5}, // another dataset: its first line at once
		{Path: "c", Total: 0},          // nothing to do
	} {
		r.show(p)
	}
	r.end()
	want := `{"dataset":"a","done":1,"total":9,"resumed":1,"skipped":0,"bytes":0,"seconds":0}
{"dataset":"a","step":"finishing","done":9,"total":9,"skipped":0,"bytes":0,"seconds":0}
{"dataset":"a","done":9,"total":9,"skipped":0,"bytes":0,"seconds":0}
{"dataset":"b","done":1,"total":5,"skipped":0,"bytes":0,"seconds":0}
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	out.Reset()
	r = &runProgress{c: r.c, words: imageWords}
	r.show(convert.Progress{Path: "a\x1b", Done: 1, Total: 9, Elapsed: time.Second})
	r.last = r.last.Add(-timeBetweenLines)
	r.show(convert.Progress{Path: "a\x1b", Done: 3, Total: 9, Elapsed: 2 * time.Second})
	r.show(convert.Progress{Path: "a\x1b", Done: 4, Total: 9, Elapsed: 3 * time.Second})
	if got, want := out.String(), `"a\x1b": 3 of 9 images, 1.5 images/s, 4s left`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
