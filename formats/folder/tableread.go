package folder

import (
	"fmt"
	"path"
	"strings"
)

// readSheet reads a file of labels of any kind. Errors name the file.
func readSheet(in filesystem, f labelFile) (*sheet, error) {
	if s, err := readDevkit(in, f.file, f.folder); s != nil || err != nil {
		return s, err
	}
	b, err := readText(in, f.file)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	s, err := parseSheet(b, strings.ToLower(path.Ext(f.file)))
	if err == nil {
		err = recognize(s)
	}
	if err == nil && s.known == groundTruth {
		return readGroundTruth(in, f.file, f.folder, b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.file, err)
	}
	return s, nil
}
