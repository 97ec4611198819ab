package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/internal/cuda"
)

// check compares the line with that name: its status and what its value and advice contain.
func check(t *testing.T, lines []Line, name string, status Status, contains ...string) {
	t.Helper()
	var found []string
	for _, line := range lines {
		if line.Name != name {
			continue
		}
		text := line.Value + " -> " + line.Advice
		found = append(found, string(line.Status)+": "+text)
		matches := line.Status == status
		for _, part := range contains {
			matches = matches && strings.Contains(text, part)
		}
		if matches {
			return
		}
	}
	t.Errorf("%s is %q, want %s: %q", name, found, status, contains)
}

// impatient makes everything that waits hang.
func impatient(t *testing.T) {
	was := patience
	patience = 0
	t.Cleanup(func() { patience = was })
}

func TestDisks(t *testing.T) {
	for number, want := range map[uint32][2]string{
		0x6969: {"NFS (network)", "copy the dataset to a local disk"}, 0x65735546: {"FUSE", "through a program"}, 0x01021994: {"tmpfs (memory)", ""},
	} {
		if kind, advice := kindOf(number, "/nothing"); !strings.Contains(kind, want[0]) || !strings.Contains(advice, want[1]) || (want[1] == "") != (advice == "") {
			t.Errorf("%x: %q, %q", number, kind, advice)
		}
	}
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for disk, rotational := range map[string]string{"sda": "1\n", "nvme0n1": "0\n", "vda": "1\n"} {
		must(os.MkdirAll(filepath.Join(dir, disk, "queue"), 0o777))
		must(os.MkdirAll(filepath.Join(dir, disk, disk+"1"), 0o777))
		must(os.WriteFile(filepath.Join(dir, disk, "queue/rotational"), []byte(rotational), 0o666))
		must(os.Symlink(filepath.Join(dir, disk), filepath.Join(dir, "whole-"+disk)))
		must(os.Symlink(filepath.Join(dir, disk, disk+"1"), filepath.Join(dir, "part-"+disk)))
	}
	for link, want := range map[string]string{
		"whole-sda": "sda (hard disk)", "part-sda": "sda1 (hard disk)", "whole-nvme0n1": "nvme0n1 (SSD)", "part-vda": "vda1 (virtual disk)", "none": "kind of disk unknown",
	} {
		if kind, advice := driveOf(filepath.Join(dir, link)); kind != want || (advice != "") != strings.Contains(want, "hard") {
			t.Errorf("%s: %q, %q", link, kind, advice)
		}
	}
	impatient(t)
	line := answer(t.Context(), deadDisk("dead"), func() Line {
		<-t.Context().Done() // until the test ends
		return Line{}
	})
	check(t, []Line{line}, "dead", Warning, "no answer", "did not answer within")
}

func TestLimits(t *testing.T) {
	check(t, []Line{cores(16, 16)}, "cores", OK, "16 -> ")
	check(t, []Line{cores(16, 2)}, "cores", OK, "16; dsconv uses 2", "num_workers=2")
	check(t, []Line{memory(8<<30, nil)}, "memory", OK, "8 GiB available")
	check(t, []Line{memory(1<<30, nil)}, "memory", Warning, "little memory")
	check(t, []Line{memory(0, errors.ErrUnsupported)}, "memory", OK, "unknown", "unsupported")
	check(t, []Line{shm(8<<30, nil)}, "/dev/shm", OK, "8 GiB free")
	check(t, []Line{shm(64<<20, nil)}, "/dev/shm", Warning, "64 MiB", "--shm-size")
	check(t, []Line{shm(0, fs.ErrNotExist)}, "/dev/shm", OK, "none")
}

// TestGPUDecoding: what the libraries say, and what is missing with what provides it.
func TestGPUDecoding(t *testing.T) {
	h200 := cuda.Properties{Name: "NVIDIA H200", Major: 9, Memory: 143771 << 20}
	p100 := cuda.Properties{Name: "NVIDIA P100", Major: 6}
	ready := nvidia{cards: []cuda.Properties{h200}, cuda: "13.0", nvjpeg: "/x/libnvjpeg.so.13", version: "13.3.2"}
	check(t, ready.lines(), "nvJPEG", OK, "/x/libnvjpeg.so.13, version 13.3.2")
	check(t, ready.lines(), "GPU decoding", OK, "ready: NVIDIA H200, compute capability 9.0; CUDA 13.0; nvJPEG 13.3.2")
	check(t, ready.lines(), "GPU", OK, "NVIDIA H200, 140.4 GiB")
	check(t, ready.lines(), "CUDA", OK, "13.0")
	check(t, nvidia{noDriver: cuda.ErrNotInstalled}.lines(), "GPU", OK, "none")
	for _, c := range []struct {
		n    nvidia
		want []string
	}{
		{nvidia{noDriver: cuda.ErrNotInstalled}, []string{"off: this process sees no NVIDIA GPU", "--gpus all"}},
		{nvidia{noDriver: errors.New("update the driver")}, []string{"off: no GPU can be used", "update the driver"}},
		{nvidia{cards: ready.cards, noLibrary: errors.New("pip install it")}, []string{"off: no usable nvJPEG", "pip install it"}},
		{nvidia{cards: []cuda.Properties{p100}, version: "12.4.0"}, []string{"off: no GPU has compute capability 7.5"}},
		{nvidia{cards: []cuda.Properties{p100, h200}, version: "12.4.0"}, []string{"ready: NVIDIA H200"}},
		{nvidia{cards: ready.cards, noVideo: true}, []string{"ready: NVIDIA H200", "libnvcuvid.so.1", "compute,utility,video"}},
	} {
		check(t, c.n.lines(), "GPU decoding", OK, c.want...)
	}
}

// pythonThatPrints returns the path of a program that prints text, whatever it is asked.
func pythonThatPrints(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "py")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ncat <<'END'\n"+text+"\nEND\n"), 0o777); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	return path
}

func TestPython(t *testing.T) {
	lines := func(packages, cuda, version string, gpu bool) []Line {
		p := ask(t.Context(), pythonThatPrints(t, fmt.Sprintf(`{"version":"3.12.1","executable":"/usr/bin/py","folders":["/site"],"packages":{%s},"cuda":%q}`, packages, cuda)))
		if fmt.Sprint(p.Folders) != "[/site]" {
			t.Errorf("folders %v", p.Folders)
		}
		return p.lines(version, gpu)
	}
	all := lines(`"torch":"2.5.1+cu124","Pillow":"11.0.0","dsconv":"0.2"`, "12.4", "0.3", true)
	check(t, all, "Python", OK, "3.12.1, /usr/bin/py")
	check(t, all, "torch", OK, "2.5.1+cu124, for CUDA 12.4")
	check(t, all, "torchvision", OK, "not installed")
	check(t, all, "Pillow", OK, "11.0.0")
	check(t, all, "dsconv for Python", Warning, "0.2", "update")
	check(t, lines(`"torch":"2.5.1"`, "", "devel", false), "torch", OK, "without CUDA")
	check(t, lines(`"torch":"2.5.1"`, "", "devel", true), "torch", Warning, "without CUDA", "pytorch.org")
	of := func(name string) []Line { p := ask(t.Context(), name); return p.lines("devel", false) }
	check(t, of("./no-such-py"), "Python", OK, "not found: ./no-such-py", "--python")
	check(t, of(pythonThatPrints(t, "hello")), "Python", Warning, "does not work")
	impatient(t)
	check(t, of(pythonThatPrints(t, "{}")), "Python", Warning, "did not answer")
}

// TestOtherDsconv: another project has the name in package indexes, and is told from this one by its files.
func TestOtherDsconv(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	was := patience
	patience = time.Minute
	defer func() { patience = was }()
	for file, want := range map[string]string{"strange.py": "another project's package", "_library.py": "9.9"} {
		site := t.TempDir()
		for name, text := range map[string]string{
			"dsconv/__init__.py": "raise SystemExit('imported')", "dsconv/" + file: "",
			"dsconv-9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: dsconv\nVersion: 9.9\n",
		} {
			path := filepath.Join(site, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PYTHONPATH", site)
		p := ask(t.Context(), "python3")
		check(t, p.lines("1.0", false), "dsconv for Python", Warning, want)
	}
}

func TestEveryLineIsComplete(t *testing.T) {
	for _, line := range Examine(t.Context(), "1", "python3", []string{"/nothing/here", "x-%d.tar"}) {
		if line.Name == "" || line.Value == "" || line.Status != OK && line.Status != Warning || line.Status == Warning && line.Advice == "" {
			t.Errorf("%+v", line)
		}
	}
}
