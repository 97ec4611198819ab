package sharded

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzShardPath: the name of a shard is found to be that shard, and lies in the folder.
func FuzzShardPath(f *testing.F) {
	for _, p := range []string{
		"x.tar", "d/x-%06d.tar", "%d", "x-%d.tar.zst", "/a/{000..127}.tar", "x-{0..99999999999999999999}.tar", "%099999999999999999999d",
		"%06d%06d", "%%06d", "a%0d.tar", "x-{5..3}.tar", "../%03d", "", "/", "a\x00%d",
	} {
		f.Add(p, 7)
	}
	f.Fuzz(func(t *testing.T, path string, i int) {
		p, err := ParseShardPath(path)
		if err != nil || i < 0 {
			return
		}
		name := p.Name(i)
		if strings.ContainsRune(name, '/') || filepath.Dir(p.Sidecar()) != p.Dir {
			t.Fatalf("%q: shard %q, sidecar %q", path, name, p.Sidecar())
		}
		if n, ok := p.ShardNumber(name); p.IsPattern() && (!ok || n != i) {
			t.Fatalf("%q: %q is shard %d, %v", path, name, n, ok)
		}
	})
}
