package cache

import (
	"testing"
	"testing/fstest"
)

func TestFreeMemoryIsTheLeastOfAll(t *testing.T) {
	const meminfo = "MemTotal: 4000 kB\nMemAvailable:    2000 kB\n"
	const unlimited = "9223372036854771712\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no cgroups": {nil, 2000 << 10},
		"version 2": {map[string]string{
			"proc/self/cgroup":                  "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":      "1000000\n",
			"sys/fs/cgroup/a/b/memory.high":     "max\n",
			"sys/fs/cgroup/a/b/memory.current":  "900000\n",
			"sys/fs/cgroup/a/b/memory.stat":     "anon 5\ninactive_file 100000\nactive_file 50000\n",
			"sys/fs/cgroup/a/memory.max":        "max\n",
			"sys/fs/cgroup/a/memory.current":    "5000000\n",
			"sys/fs/cgroup/memory.pressure":     "some\n",
			"sys/fs/cgroup/a/b/memory.swap.max": "0\n",
		}, 250_000},
		"version 2, the parent's": {map[string]string{
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":     "1000000\n",
			"sys/fs/cgroup/a/b/memory.current": "0\n",
			"sys/fs/cgroup/a/memory.high":      "500000\n",
			"sys/fs/cgroup/a/memory.current":   "400000\n",
		}, 100_000},
		"version 2, a container's": {map[string]string{
			"proc/self/cgroup":             "0::/../../host\n",
			"sys/fs/cgroup/memory.max":     "500000\n",
			"sys/fs/cgroup/memory.current": "600000\n",
		}, 0},
		"version 1": {map[string]string{
			"proc/self/cgroup":                           "5:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/b\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "300000\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "200000\n",
			"sys/fs/cgroup/memory/memory.stat":           "inactive_file 9\ntotal_inactive_file 50000\n",
		}, 150_000},
		"version 1, no limit": {map[string]string{
			"proc/self/cgroup":                           "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": unlimited,
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "200000\n",
		}, 2000 << 10},
		"more than the machine has": {map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"sys/fs/cgroup/memory.max":     "100000000\n",
			"sys/fs/cgroup/memory.current": "0\n",
		}, 2000 << 10},
	} {
		root := fstest.MapFS{"proc/meminfo": {Data: []byte(meminfo)}}
		for path, data := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(data)}
		}
		if got, err := freeMemoryIn(root); err != nil || got != c.want {
			t.Errorf("%s: %d %v, want %d", name, got, err, c.want)
		}
	}
	if _, err := freeMemoryIn(fstest.MapFS{}); err == nil {
		t.Error("no meminfo, no error")
	}
	if free, err := freeMemory(); err != nil || free <= 0 {
		t.Errorf("here: %d %v", free, err)
	}
}
