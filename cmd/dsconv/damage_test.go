package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// damages are kinds of damage to a file.
var damages = map[string]func(t *testing.T, file string){
	"missing": func(t *testing.T, file string) { must(t, os.Remove(file)) },
	"empty":   func(t *testing.T, file string) { must(t, os.Truncate(file, 0)) },
	"cut":     func(t *testing.T, file string) { must(t, os.Truncate(file, int64(len(read(t, file))*2/3))) },
	"zeros":   func(t *testing.T, file string) { must(t, os.WriteFile(file, make([]byte, len(read(t, file))), 0o644)) },
	"a flipped bit": func(t *testing.T, file string) {
		b := read(t, file)
		b[len(b)/2] ^= 8
		must(t, os.WriteFile(file, b, 0o644))
	},
	"a folder": func(t *testing.T, file string) {
		must(t, os.Remove(file))
		must(t, os.Mkdir(file, 0o755))
	},
}

// twice returns text that an error repeats in one line, for instance because it was wrapped twice.
var twice = regexp.MustCompile(`(?m)damaged: .*damaged: .*$|not a dataset: .*not a dataset.*$|open \S+: open .*$`)

// verify and ls describe any damage in a few lines, without repeating a cause in a line.
func TestMessagesAboutDamage(t *testing.T) {
	src := samples(t, "90", "24x16")
	for _, name := range append(outputsOf(), "x-%02d.tar") {
		t.Run(name, func(t *testing.T) {
			whole := t.TempDir()
			flags := []string{"--resize=exact:16x16", "--encode=raw"}
			if strings.Contains(name, "%") {
				flags = append(flags, "--shard-count=2")
			}
			if code, said := packTo(t, src, filepath.Join(whole, name), flags...); code != exitDone {
				t.Fatal(said)
			}
			for _, file := range filesOf(t, whole) {
				for what, damage := range damages {
					if filepath.Base(file) == "index" && what == "missing" {
						continue // opening makes it again
					}
					dir := t.TempDir()
					copyTree(t, dir, whole)
					damage(t, filepath.Join(dir, file))
					code, said := dsconvSays("verify", filepath.Join(dir, name))
					_, listed := dsconvSays("ls", filepath.Join(dir, name))
					_, told := dsconvSays("info", filepath.Join(dir, name))
					if code != exitFailed && code != exitUnknown {
						t.Errorf("%s: %s: exit code %d: %s", file, what, code, said)
					}
					if lines := strings.Count(said, "\n"); lines > 50 {
						t.Errorf("%s: %s: verify prints %d lines", file, what, lines)
					}
					if wrong := twice.FindString(said + listed + told); wrong != "" {
						t.Errorf("%s: %s: %s", file, what, wrong)
					}
				}
			}
		})
	}
}

// If many samples are damaged, verify prints the first and counts all by cause; --json has all.
func TestManyDamagedSamplesAreCounted(t *testing.T) {
	src, dir := samples(t, "90", "24x16"), t.TempDir()
	dst := filepath.Join(dir, "x-%02d.tar")
	if code, said := packTo(t, src, dst, "--shard-count=3"); code != exitDone {
		t.Fatal(said)
	}
	must(t, os.Remove(filepath.Join(dir, "x-01.tar")))
	_, said := dsconvSays("verify", dst)
	if n := strings.Count(said, "damaged sample: "); n != maxLines {
		t.Errorf("%d samples are named: %s", n, said)
	}
	for _, want := range []string{"... and 10 more damaged samples (--json lists all)\n", "  30 samples: its record has N bytes at byte N, but the file has N bytes\n", "x-01.tar: file does not exist\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("without %q: %s", want, said)
		}
	}
	_, said = dsconvSays("verify", dst, "--json")
	var report struct {
		Samples []struct{ Key, Cause string } `json:"damaged_samples"`
	}
	must(t, json.Unmarshal([]byte(said[:strings.LastIndex(said, "}")+1]), &report))
	if len(report.Samples) != 30 || !strings.HasPrefix(report.Samples[0].Cause, "in x-01.tar: its record has ") {
		t.Errorf("%+v", report)
	}
}

// Repair writes damaged or missing files again, and no other file.
func TestRepairWritesOnlyWhatIsDamaged(t *testing.T) {
	src := samples(t, "40", "24x16")
	for _, name := range []string{"x-%02d.tar", "x-%02d.tfrecord", "x-%02d.tar.zst", "x.tar"} {
		for what, damage := range damages {
			if what == "a folder" {
				continue // it is the user's: it is named and stays
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				dir := t.TempDir()
				dst := filepath.Join(dir, name)
				files, flags := []string{name}, []string{}
				if strings.Contains(name, "%") {
					files, flags = nil, []string{"--shard-count=4"}
					for i := range 4 {
						files = append(files, fmt.Sprintf(name, i))
					}
				}
				if code, said := packTo(t, src, dst, flags...); code != exitDone {
					t.Fatal(said)
				}
				broken := files[len(files)/3]
				if name == "x.tar" {
					broken = "x.tar.dsconv/x.idx" // the data can stay
				}
				before := map[string]string{}
				for _, file := range files {
					before[file] = fmt.Sprint(inode(t, filepath.Join(dir, file)), string(read(t, filepath.Join(dir, file))))
				}
				damage(t, filepath.Join(dir, broken))
				if code, said := dsconvSays("verify", dst, "--repair", src); code != exitDone {
					t.Fatalf("exit code %d: %s", code, said)
				}
				for _, file := range slices.DeleteFunc(files, func(file string) bool { return file == broken }) {
					if now := fmt.Sprint(inode(t, filepath.Join(dir, file)), string(read(t, filepath.Join(dir, file)))); now != before[file] {
						t.Errorf("%s was written again", file)
					}
				}
			})
		}
	}
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	st, err := os.Stat(path)
	must(t, err)
	return st.Sys().(*syscall.Stat_t).Ino
}
