package folder

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// metadataNotices names the tables that Hugging Face's imagefolder reads by itself, and dsconv only if it is told to:
// in the root, or in a folder of a split.
func metadataNotices(in vfs.FS) (list []string) {
	for _, dir := range append([]string{""}, formats.SplitWords()...) {
		for _, name := range []string{"metadata.csv", "metadata.jsonl"} {
			file := path.Join(dir, name)
			if st, err := in.Stat(file); err != nil || !st.Mode().IsRegular() {
				continue
			}
			columns := columnsOf(in, in.Join(file))
			if !slices.Contains(columns, "file_name") {
				continue
			}
			option := "--labels " + in.Join(file)
			if dir != "" {
				option = fmt.Sprintf("--labels %s=%s", dir, in.Join(file))
			}
			list = append(list, fmt.Sprintf("%s lists %s, and is not read: give %s", file, strings.Join(columns, ", "), option))
		}
	}
	return list
}

// columnsOf returns the columns of a table, as its first line has them; nil if that cannot be read.
func columnsOf(in vfs.FS, file string) []string {
	f, err := in.OpenText(file)
	if err != nil {
		return nil // a notice is not worth an error
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 1<<16)).ReadString('\n') // the only line may have no end
	line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	if !strings.HasSuffix(file, ".jsonl") {
		columns := strings.Split(line, ",")
		for i, c := range columns {
			columns[i] = strings.Trim(c, `" `)
		}
		return columns
	}
	var row map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &row) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(row))
}
