// Package procmemory reads what a process has in memory, as Linux counts it.
package procmemory

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"strings"
)

// Usage is in bytes. Memory of a mapped file is shared with all processes that map it; PSS counts a
// part of it for each of them.
type Usage struct {
	PSS          int64 `json:"pss"`
	PSSAnonymous int64 `json:"pss_anonymous"`
	PSSFile      int64 `json:"pss_file"`
	PrivateDirty int64 `json:"private_dirty"`
	Anonymous    int64 `json:"anonymous"`
	PageTables   int64 `json:"page_tables"` // of the kernel, and in none of the others
}

// Own returns the usage of this process. It takes time that depends on the size of its mappings.
func Own() (Usage, error) {
	sizes, err := Sizes("/proc/self/smaps_rollup")
	if err != nil {
		return Usage{}, err
	}
	status, err := Sizes("/proc/self/status")
	maps.Copy(sizes, status)
	return Usage{
		PSS: sizes["Pss"], PSSAnonymous: sizes["Pss_Anon"], PSSFile: sizes["Pss_File"],
		PrivateDirty: sizes["Private_Dirty"], Anonymous: sizes["Anonymous"], PageTables: sizes["VmPTE"],
	}, err
}

// Sizes reads the lines "Name:  123 kB" of a file, in bytes.
func Sizes(path string) (map[string]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sizes := map[string]int64{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		var kilobytes int64
		name, rest, _ := strings.Cut(s.Text(), ":")
		if n, _ := fmt.Sscanf(rest, "%d kB", &kilobytes); n == 1 && strings.HasSuffix(rest, " kB") {
			sizes[name] = kilobytes << 10
		}
	}
	return sizes, s.Err()
}
