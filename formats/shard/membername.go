package shard

import (
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// maxName is the maximum length of a sample's name in bytes.
const maxName = 3 * formats.MaxKey

const hexDigits = "0123456789ABCDEF"

// appendName appends the sample's name, the common start of its member names; see the package's
// documentation.
func appendName(b []byte, key string) []byte {
	last := strings.LastIndexByte(key, '/') + 1
	meta := strings.HasPrefix(key, "__")
	for i := range len(key) {
		c := key[i]
		switch {
		case c == '%', c < ' ', c == 0x7f, c == '.' && i >= last, meta && i == 0:
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}
