package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// suggestArchives returns what to do with the archives in a folder without images; "" if it has none.
func suggestArchives(dir string) string {
	entries, err := os.ReadDir(dir)
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool {
		return slices.ContainsFunc([]string{".tar", ".zip", ".tgz", ".tar.gz", ".tar.zst"}, func(kind string) bool { return strings.HasSuffix(e.Name(), kind) })
	})
	if err != nil || i < 0 {
		return ""
	}
	return fmt.Sprintf("; it has archives: give them as sources, as in train=%s, or %s if each has the images of one class, or %s if they are shards",
		filepath.Join(dir, entries[i].Name()), "--source-format archive", "--source-format webdataset")
}
