package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
)

// fake is a machine of files and programs; "" is a program that cannot be found.
func fake(files map[string]string, programs map[string]string) *Machine {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return &Machine{
		root:    root,
		resolve: func(path string) (string, error) { return path, nil },
		space:   func(string) (uint64, uint64, error) { return 1 << 40, 1 << 39, nil },
		run: func(_ context.Context, program *exec.Cmd) ([]byte, error) {
			name := program.Args[0]
			out, found := programs[strings.Join(program.Args, " ")]
			if !found {
				out, found = programs[name]
			}
			switch {
			case !found:
				return nil, &exec.Error{Name: name, Err: exec.ErrNotFound}
			case strings.HasPrefix(out, "fails:"):
				return nil, errors.New(out)
			}
			return []byte(out), nil
		},
		getenv: func(string) string { return "" },
		nvidia: func(nvjpeg.Search) nvidia { return nvidia{noDriver: cuda.ErrNotInstalled} },
		cpus:   16, workers: 16, goos: "linux", timeout: time.Minute,
	}
}

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

const laptopMounts = `22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
23 22 0:20 / /proc rw - proc proc rw
25 22 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate
26 22 0:40 / /mnt/my\040data rw - nfs4 server:/export rw
27 22 8:1 / /slow rw - xfs /dev/sda1 rw
28 22 0:50 / /pool rw - btrfs /dev/sdb1 rw
29 22 253:0 / /volume rw - ext4 /dev/mapper/vg-lv rw
30 22 0:51 / /over rw - overlay overlay rw
31 22 0:52 / /drive rw - fuse.sshfs host:/ rw
32 22 0:53 / /ram rw - tmpfs tmpfs rw
33 22 254:1 / /virtual rw - ext4 /dev/vda1 rw
34 22 0:54 / /tank rw - zfs tank/data rw
`

func laptop() map[string]string {
	return map[string]string{
		"proc/self/mountinfo": laptopMounts,
		"proc/self/cgroup":    "0::/user.slice/app.scope\n",
		"proc/meminfo":        "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n",
		"dev/shm/x":           "",

		"sys/dev/block/259:2/uevent":         "MAJOR=259\nDEVNAME=nvme0n1p2\nDEVTYPE=partition\n",
		"sys/block/nvme0n1/nvme0n1p2/size":   "1",
		"sys/block/nvme0n1/queue/rotational": "0",
		"sys/dev/block/8:1/uevent":           "DEVNAME=sda1\n",
		"sys/block/sda/sda1/size":            "1",
		"sys/block/sda/queue/rotational":     "1\n",
		"sys/block/sdb/sdb1/size":            "1",
		"sys/block/sdb/queue/rotational":     "0\n",
		"sys/dev/block/253:0/uevent":         "DEVNAME=dm-0\n",
		"sys/block/dm-0/queue/rotational":    "1\n",
		"sys/block/dm-0/slaves/sda1/x":       "",
		"sys/dev/block/254:1/uevent":         "DEVNAME=vda1\n",
		"sys/block/vda/vda1/size":            "1",
		"sys/block/vda/queue/rotational":     "1",
	}
}

func TestDisks(t *testing.T) {
	m := fake(laptop(), nil)
	for path, want := range map[string]struct {
		status Status
		value  string
	}{
		"/home/x":         {OK, "ext4 on nvme0n1 (NVMe), 512 GiB free of 1 TiB"},
		"/":               {OK, "NVMe"},
		"/mnt/my data/a":  {Warning, "nfs4 (network)"},
		"/mnt/my data":    {Warning, "copy the dataset to a local disk"},
		"/mnt/my data2":   {OK, "NVMe"},
		"/slow/x.lmdb":    {Warning, "xfs on sda (hard disk)"},
		"/pool/x":         {OK, "btrfs on sdb (SSD)"},
		"/volume":         {Warning, "ext4 on sda (hard disk)"},
		"/over/a":         {OK, "overlay"},
		"/drive/a":        {Warning, "fuse.sshfs"},
		"/ram":            {OK, "tmpfs (memory)"},
		"/virtual/images": {OK, "ext4 on vda (virtual disk)"},
		"/tank":           {OK, "zfs, kind of disk unknown"},
	} {
		check(t, []Line{m.Disk(t.Context(), path, path)}, path, want.status, want.value)
	}
	m.space = func(string) (uint64, uint64, error) { return 1 << 40, 1 << 20, nil }
	check(t, []Line{m.Disk(t.Context(), "full", "/ram")}, "full", Warning, "1 MiB free", "nearly full")
	m.resolve = func(path string) (string, error) {
		return "", &fs.PathError{Op: "stat", Path: path, Err: fs.ErrPermission}
	}
	check(t, []Line{m.Disk(t.Context(), "closed", "/x")}, "closed", Warning, "permission denied")
}

func TestWhatHangsIsLeftBehind(t *testing.T) {
	m := fake(laptop(), nil)
	m.timeout = time.Millisecond
	hanging := make(chan struct{})
	defer close(hanging)
	m.space = func(string) (uint64, uint64, error) { <-hanging; return 0, 0, nil }
	check(t, []Line{m.Disk(t.Context(), "dead", "/mnt/my data/a")}, "dead", Warning, "no answer", "did not answer within 1ms")
	m.run = func(ctx context.Context, _ *exec.Cmd) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	check(t, m.Limits(t.Context()), "/dev/shm", Warning, "unknown")
	check(t, m.GPU(t.Context(), nil), "GPU", Warning, "nvidia-smi did not answer")
	python, _ := m.Python(t.Context(), "python3", "1")
	check(t, python, "Python", Warning, "python3 did not answer")
}

func TestLaptopHasNoLimits(t *testing.T) {
	lines := fake(laptop(), map[string]string{"sh": "1024\n1048576\n"}).Limits(t.Context())
	check(t, lines, "cores", OK, "16")
	check(t, lines, "memory", OK, "15.26 GiB, 7.629 GiB available")
	check(t, lines, "/dev/shm", OK, "1 TiB, 512 GiB free")
	check(t, lines, "open files", OK, "1024, can be raised to 1048576")
	for _, line := range lines {
		if strings.Contains(line.Value, "cgroup") {
			t.Errorf("%+v", line)
		}
	}
}

func TestContainerOfVersion2(t *testing.T) {
	files := laptop()
	files["proc/self/mountinfo"] = "1 0 0:1 / / rw - overlay overlay rw\n2 1 0:2 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	files["proc/self/cgroup"] = "0::/\n"
	files["sys/fs/cgroup/cpu.max"] = "150000 100000\n"
	files["sys/fs/cgroup/memory.max"] = "1073741824\n"
	files["sys/fs/cgroup/cpuset.cpus.effective"] = "0-2,8\n"
	m := fake(files, map[string]string{"sh": "512\n1024\n"})
	m.workers = 2
	m.space = func(string) (uint64, uint64, error) { return 64 << 20, 64 << 20, nil }
	lines := m.Limits(t.Context())
	check(t, lines, "cores", OK, "16, the cgroup's quota is 1.5, its cpuset has 4; dsconv uses 2", "num_workers=2")
	check(t, lines, "memory", Warning, "the cgroup allows 1 GiB")
	check(t, lines, "/dev/shm", Warning, "64 MiB", "--shm-size")
	check(t, lines, "open files", Warning, "ulimit -n")
}

// TestNestedGroups: the lowest limit of all groups above the process's counts.
func TestNestedGroups(t *testing.T) {
	files := laptop()
	files["proc/self/cgroup"] = "0::/a/b/c\n"
	for file, text := range map[string]string{
		"a/b/c/cpu.max": "max 100000", "a/b/cpu.max": "400000 100000", "a/cpu.max": "800000 100000",
		"a/b/c/memory.max": "max", "a/memory.max": "4294967296", "a/b/memory.max": "8589934592",
	} {
		files["sys/fs/cgroup/"+file] = text
	}
	if l := fake(files, nil).cgroupLimits(); l != (limits{cpus: 4, memory: 4 << 30}) {
		t.Errorf("%+v", l)
	}
}

func TestContainerOfVersion1(t *testing.T) {
	for name, groups := range map[string]string{
		"the machine's names":     "3:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n5:cpuset:/docker/abc\n0::/docker/abc\n",
		"another place":           "3:cpu,cpuacct:/kube/other\n4:memory:/kube/other\n5:cpuset:/kube/other\n",
		"above the mount":         "3:cpu,cpuacct:/../..\n4:memory:/../..\n5:cpuset:/../..\n",
		"a group within that one": "3:cpu,cpuacct:/docker/abc/in\n4:memory:/docker/abc/in\n5:cpuset:/docker/abc/in\n",
	} {
		files := map[string]string{
			"proc/self/cgroup":                              groups,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":    "200000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us":   "100000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":    "2147483648\n",
			"sys/fs/cgroup/memory/in/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/cpuset/cpuset.effective_cpus":    "4-7\n",
		}
		if l := fake(files, nil).cgroupLimits(); l != (limits{cpus: 2, cpuset: 4, memory: 2 << 30}) {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestUnlimitedVersion1(t *testing.T) {
	files := map[string]string{
		"proc/self/cgroup":                   "3:cpu:/\n4:memory:/\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
		"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
	}
	if l := fake(files, nil).cgroupLimits(); l != (limits{}) {
		t.Errorf("%+v", l)
	}
}

const smiTable = `+------------------------------------------------------+
| NVIDIA-SMI 570.1     Driver Version: 570.1   CUDA Version: 12.8     |
`

func TestGPU(t *testing.T) {
	files := laptop()
	files["site/nvidia/nvjpeg/lib/libnvjpeg.so.12"] = ""
	files["usr/local/cuda-12.8/lib64/libnvjpeg.so.12.4"] = ""
	m := fake(files, map[string]string{
		"nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader": "NVIDIA H200, 143771 MiB, 570.1\nNVIDIA H200, 143771 MiB, 570.1\n",
		"nvidia-smi": smiTable,
	})
	lines := m.GPU(t.Context(), []string{"/nothing", "/site"})
	check(t, lines, "GPU", OK, "NVIDIA H200, 143771 MiB")
	check(t, lines, "NVIDIA driver", OK, "570.1")
	check(t, lines, "CUDA", OK, "12.8")
	check(t, lines, "nvJPEG", OK, "/site/nvidia/nvjpeg/lib/libnvjpeg.so.12")
	check(t, lines, "GPU decoding", OK, "off")
	check(t, m.GPU(t.Context(), nil), "nvJPEG", OK, "/usr/local/cuda-12.8/lib64/libnvjpeg.so.12.4")
	m.getenv = func(name string) string {
		return map[string]string{"LD_LIBRARY_PATH": ":relative:/site/nvidia/nvjpeg/lib"}[name]
	}
	check(t, m.GPU(t.Context(), nil), "nvJPEG", OK, "/site/nvidia")
	delete(files, "site/nvidia/nvjpeg/lib/libnvjpeg.so.12")
	delete(files, "usr/local/cuda-12.8/lib64/libnvjpeg.so.12.4")
	without := fake(files, nil)
	without.run = m.run
	check(t, without.GPU(t.Context(), nil), "nvJPEG", OK, "not found", "nvidia-nvjpeg-cu12")

	files["etc/ld.so.conf.d/cuda.conf"] = "# a comment\n/somewhere/lib\n"
	files["somewhere/lib/libnvjpeg.so"] = ""
	check(t, fake(files, nil).GPU(t.Context(), nil), "nvJPEG", OK, "/somewhere/lib/libnvjpeg.so")
}

func TestGPUThatCannotBeUsed(t *testing.T) {
	check(t, fake(laptop(), nil).GPU(t.Context(), nil), "GPU", OK, "none")
	files := laptop()
	files["proc/driver/nvidia/version"] = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar 5\nGCC version: gcc 12\n"
	files["proc/driver/nvidia/gpus/0000:01:00.0/information"] = "Model: \t\t NVIDIA A100\nIRQ: 3\n"
	check(t, fake(files, nil).GPU(t.Context(), nil), "GPU", Warning, "550.54.15", "--gpus all")
	files["dev/nvidiactl"] = ""
	lines := fake(files, nil).GPU(t.Context(), nil)
	check(t, lines, "GPU", OK, "NVIDIA A100")
	check(t, lines, "NVIDIA driver", OK, "550.54.15")
	broken := fake(laptop(), map[string]string{"nvidia-smi": "fails: couldn't communicate with the NVIDIA driver"})
	check(t, broken.GPU(t.Context(), nil), "GPU", Warning, "couldn't communicate")
}

// TestGPUDecoding: what the libraries say, and what is missing with what provides it.
func TestGPUDecoding(t *testing.T) {
	h200 := cuda.Properties{Name: "NVIDIA H200", Major: 9, Memory: 143771 << 20}
	smi := map[string]string{"nvidia-smi": "NVIDIA H200, 143771 MiB, 570.1\n"}
	lines := func(programs map[string]string, n nvidia) []Line {
		m := fake(laptop(), programs)
		m.nvidia = func(nvjpeg.Search) nvidia { return n }
		return m.GPU(t.Context(), nil)
	}
	ready := nvidia{cards: []cuda.Properties{h200}, cuda: "13.0", nvjpeg: "/x/libnvjpeg.so.13", version: "13.3.2"}
	check(t, lines(smi, ready), "nvJPEG", OK, "/x/libnvjpeg.so.13, version 13.3.2")
	check(t, lines(smi, ready), "GPU decoding", OK, "ready: NVIDIA H200, compute capability 9.0; CUDA 13.0; nvJPEG 13.3.2")
	check(t, lines(nil, ready), "GPU", OK, "NVIDIA H200, 140.4 GiB") // without nvidia-smi
	check(t, lines(nil, ready), "CUDA", OK, "13.0")

	for _, c := range []struct {
		programs map[string]string
		n        nvidia
		want     []string
	}{
		{nil, nvidia{noDriver: cuda.ErrNotInstalled}, []string{"off: this process sees no NVIDIA GPU", "--gpus all"}},
		{nil, nvidia{noDriver: errors.New("update the driver")}, []string{"off: no GPU can be used", "update the driver"}},
		{smi, nvidia{noDriver: cuda.ErrNotInstalled}, []string{"off: no GPU can be used", "not installed"}},
		{smi, nvidia{noDriver: errors.New("update the driver")}, []string{"off: no GPU can be used", "update the driver"}},
		{smi, nvidia{cards: ready.cards, noLibrary: errors.New("pip install it")}, []string{"off: no usable nvJPEG", "pip install it"}},
		{smi, nvidia{cards: []cuda.Properties{{Name: "NVIDIA P100", Major: 6}}, version: "12.4.0"}, []string{"off: no GPU has compute capability 7.5"}},
		{smi, nvidia{cards: []cuda.Properties{{Name: "NVIDIA P100", Major: 6}, h200}, version: "12.4.0"}, []string{"ready: NVIDIA H200"}},
		{smi, nvidia{cards: []cuda.Properties{h200}, noVideo: true}, []string{"ready: NVIDIA H200", "libnvcuvid.so.1", "compute,utility,video"}},
	} {
		check(t, lines(c.programs, c.n), "GPU decoding", OK, c.want...)
	}
	for newest, want := range map[string]string{"12.8": "nvidia-nvjpeg-cu12", "13.0": "pip install nvidia-nvjpeg"} {
		check(t, lines(nil, nvidia{cards: ready.cards, cuda: newest, noLibrary: errors.New("none")}), "nvJPEG", OK, "not found", want)
	}
}

// TestGPUThatHangs: a driver that does not answer stops nothing.
func TestGPUThatHangs(t *testing.T) {
	m := fake(laptop(), nil)
	m.timeout = time.Millisecond
	answer := make(chan struct{})
	m.nvidia = func(nvjpeg.Search) nvidia { <-answer; return nvidia{} }
	lines := m.GPU(t.Context(), nil)
	close(answer)
	check(t, lines, "nvJPEG", Warning, "unknown", "did not answer")
	check(t, lines, "GPU decoding", OK, "off")
}

func TestPython(t *testing.T) {
	print := func(packages, cuda string) map[string]string {
		return map[string]string{"py": fmt.Sprintf(`{"version":"3.12.1","executable":"/usr/bin/py","folders":["/site"],"packages":{%s},"cuda":%q}`, packages, cuda)}
	}
	m := fake(nil, print(`"torch":"2.5.1+cu124","Pillow":"11.0.0","dsconv":"0.2"`, "12.4"))
	lines, folders := m.Python(t.Context(), "py", "0.3")
	check(t, lines, "Python", OK, "3.12.1, /usr/bin/py")
	check(t, lines, "torch", OK, "2.5.1+cu124, for CUDA 12.4")
	check(t, lines, "torchvision", OK, "not installed")
	check(t, lines, "Pillow", OK, "11.0.0")
	check(t, lines, "dsconv for Python", Warning, "0.2", "update")
	if fmt.Sprint(folders) != "[/site]" {
		t.Errorf("folders %v", folders)
	}
	programs := print(`"torch":"2.5.1","Pillow-SIMD":"9.5"`, "")
	lines, _ = fake(nil, programs).Python(t.Context(), "py", "devel")
	check(t, lines, "torch", OK, "without CUDA")
	check(t, lines, "Pillow", OK, "Pillow-SIMD 9.5")
	programs["nvidia-smi"] = "NVIDIA T4, 15360 MiB, 550.1\n"
	lines, _ = fake(nil, programs).Python(t.Context(), "py", "devel")
	check(t, lines, "torch", Warning, "without CUDA", "pytorch.org")
	lines, _ = fake(nil, nil).Python(t.Context(), "py", "devel")
	check(t, lines, "Python", OK, "not found: py", "--python")
	lines, _ = fake(nil, map[string]string{"py": "hello"}).Python(t.Context(), "py", "devel")
	check(t, lines, "Python", Warning, "py does not work")
}

// TestOtherDsconv: another project has the name in package indexes, and is told from this one by its files.
func TestOtherDsconv(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
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
		m := This("linux", 1, 1)
		m.timeout = time.Minute
		m.nvidia = func(nvjpeg.Search) nvidia { return nvidia{} }
		lines, _ := m.Python(t.Context(), "python3", "1.0")
		check(t, lines, "dsconv for Python", Warning, want)
	}
}

// TestAnotherSystem: without /proc and /sys everything has a value.
func TestAnotherSystem(t *testing.T) {
	m := fake(nil, nil)
	m.goos = "darwin"
	python, packages := m.Python(t.Context(), "python3", "devel")
	lines := append(append(m.Limits(t.Context()), m.GPU(t.Context(), packages)...), python...)
	lines = append(append(lines, Libraries("1")...), m.Disk(t.Context(), "here", "/x"))
	for _, line := range lines {
		if line.Name == "" || line.Value == "" || line.Status != OK && line.Status != Warning || line.Status == Warning && line.Advice == "" {
			t.Errorf("%+v", line)
		}
	}
	check(t, lines, "memory", OK, "unknown on darwin")
	check(t, lines, "here", OK, "file system unknown")
}
