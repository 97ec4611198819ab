package bench

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// residentNow reads the counters; zeros if they cannot be read.
func residentNow() resident {
	f := fields("/proc/self/status")
	return resident{now: f["VmRSS"], peak: f["VmHWM"], mapped: f["RssFile"] + f["RssShmem"]}
}

// resetPeak sets the high-water mark to what is resident now and reports whether it could.
func resetPeak() bool { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil }

func totalMemory() int64 { return fields("/proc/meminfo")["MemTotal"] }

// fields reads the lines "Name:  123 kB" of a file, in bytes.
func fields(path string) map[string]int64 {
	m := map[string]int64{}
	data, err := os.ReadFile(path)
	if err != nil {
		return m
	}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		name, rest, ok := strings.Cut(s.Text(), ":")
		value, isSize := strings.CutSuffix(strings.TrimSpace(rest), " kB")
		if n, err := strconv.ParseInt(value, 10, 64); ok && isSize && err == nil {
			m[name] = n * 1024
		}
	}
	return m
}
