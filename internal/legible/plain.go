package legible

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
)

var (
	errNotText = errors.New("not UTF-8 text")
	errNotJSON = errors.New("not JSON")
)

// CheckPlain returns an error if data is not what a value of that kind has: UTF-8 for a text, and for JSON what Python's
// json reads, which has NaN and Infinity too. Other kinds may have anything.
func CheckPlain(kind formats.Kind, data []byte) error {
	switch {
	case kind == formats.Text && !utf8.Valid(data):
		return errNotText
	case kind == formats.JSON && !isJSON(data):
		return errNotJSON
	}
	return nil
}

func isJSON(data []byte) bool {
	return utf8.Valid(data) && (json.Valid(data) || json.Valid(withoutNaN(data)))
}

var stringOrNaN = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|NaN|-?Infinity`)

// withoutNaN has 0 for the numbers that JSON does not have, and no byte order mark.
func withoutNaN(data []byte) []byte {
	return stringOrNaN.ReplaceAllFunc(bytes.TrimPrefix(data, []byte("\ufeff")), func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return []byte("0")
	})
}
