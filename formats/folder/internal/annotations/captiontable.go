package annotations

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// The headers of the columns that a table of captions must have.
var (
	imageHeaders   = []string{"image", "image_name", "file_name", "filename"}
	captionHeaders = []string{"caption", "comment"}
)

// isCaptionTable reports whether a file of captions is a table, as Flickr8k's captions.txt and Flickr30k's results.csv.
func isCaptionTable(name string) bool {
	return slices.Contains([]string{".csv", ".txt"}, strings.ToLower(path.Ext(name)))
}

// readTable reads a table with a caption in each row.
func (c *cocoCaptions) readTable(in vfs.FS, name string) error {
	folder, name := recipepath.ForFolder(name)
	c.files = append(c.files, cocoSource{name: name, folder: folder, own: ownFolder(in, name)})
	file, err := in.OpenText(name)
	if err != nil {
		return errors.New(vfs.Cause(err))
	}
	defer file.Close()
	limit := &itemReader{file, maxCOCOItem}
	lines := bufio.NewReader(limit)
	first, err := lines.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	separator := ","
	if strings.Contains(first, "|") {
		separator = "|"
	}
	header := strings.Split(strings.ToLower(strings.TrimPrefix(strings.TrimSpace(first), "\ufeff")), separator)
	column := func(names []string) int {
		return slices.IndexFunc(header, func(h string) bool { return slices.Contains(names, strings.Trim(h, ` "`)) })
	}
	image, caption := column(imageHeaders), column(captionHeaders)
	if image < 0 || caption < 0 {
		return errors.New(`a table of captions begins with a line such as "image,caption" or "image_name| comment_number| comment"`)
	}
	rows := csv.NewReader(lines)
	rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord, rows.ReuseRecord = rune(separator[0]), separator == "|", -1, true
	numbers := map[string]int32{}
	for {
		limit.left = maxCOCOItem
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after its first line: %w", err)
		}
		if len(row) <= image {
			return fmt.Errorf("a row has only %d cells: %q", len(row), row)
		}
		base := path.Clean(strings.ReplaceAll(strings.TrimSpace(row[image]), "\\", "/"))
		n, ok := numbers[base]
		if !ok {
			n = int32(len(c.entries))
			numbers[strings.Clone(base)] = n
			c.entries = append(c.entries, cocoEntry{name: strings.Clone(base), file: int32(len(c.files) - 1)})
		}
		if len(row) != len(header) {
			c.damage(n, fmt.Errorf("a row of the captions has %d cells, and the first line %d", len(row), len(header)))
			continue
		}
		c.texts[n] = append(c.texts[n], strings.Clone(strings.TrimSpace(row[caption])))
	}
}
