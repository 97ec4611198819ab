package archive

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
)

// A name that differs between the directory and the member is damage, but for what writers write.
func TestZipNames(t *testing.T) {
	unicode := func(name, of string) []byte {
		b := binary.LittleEndian.AppendUint16(nil, 0x7075)
		b = append(binary.LittleEndian.AppendUint16(b, uint16(5+len(name))), 1)
		return append(binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(of))), name...)
	}
	long := strings.Repeat("long/", 80)
	for what, c := range map[string]struct {
		name, local string
		extra       []byte
		path        string // under which it is read
		damaged     bool
	}{
		"the same":               {name: "cat/1.jpg", path: "cat/1.jpg"},
		"another class":          {name: "cat/1.jpg", local: "dog/1.jpg", path: "cat/1.jpg", damaged: true},
		"another extension":      {name: "cat/1.jpg", local: "cat/1.jpgx", path: "cat/1.jpg", damaged: true},
		"a long one":             {name: long + "1.jpg", path: long + "1.jpg"},
		"another long one":       {name: long + "1.jpg", local: long + "2.jpg", path: long + "1.jpg", damaged: true},
		"another code page":      {name: "c\u00e9/1.jpg", local: "c\x82/1.jpg", path: "c\u00e9/1.jpg"},
		"another slash":          {name: "cat/1.jpg", local: "cat\\1.jpg", path: "cat/1.jpg"},
		"in Unicode":             {name: "c\x82/1.jpg", extra: unicode("c\u00e9/1.jpg", "c\x82/1.jpg"), path: "c\u00e9/1.jpg"},
		"in Unicode, of ASCII":   {name: "#U00e9.jpg", extra: unicode("\u00e9.jpg", "#U00e9.jpg"), path: "\u00e9.jpg"},
		"in Unicode, of another": {name: "cat/1.jpg", extra: unicode("dog/1.jpg", "old/1.jpg"), path: "cat/1.jpg"},
		"of code page 437":       {name: "cat/\x81.jpg", path: "cat/\u00fc.jpg"},
		"of Shift-JIS":           {name: "\x95\x5c/\x95\x5c.jpg", path: "\u00f2\\/\u00f2\\.jpg"},
		"of Latin-1":             {name: "caf\xe9/1.jpg", path: "caf\u0398/1.jpg"},
		"with a backslash":       {name: "\x81\\1.jpg", path: "\u00fc/1.jpg"},
		"in no Unicode":          {name: "cat/1.jpg", extra: unicode("dog/\xff.jpg", "cat/1.jpg"), path: "cat/1.jpg"},
	} {
		data := forgedZip(zipMemberAt{name: c.name, local: c.local, extra: c.extra, data: []byte("x"), crc: 0x8cdc1683, size: -1, packed: -1, at: -1})
		f, err := Open(context.Background(), write(t, "x.zip", data)+"/")
		must(t, err)
		b, err := f.ReadInto(c.path, nil)
		if c.damaged && (err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.local)) || !c.damaged && string(b) != "x" {
			t.Errorf("%s: %q, %v", what, b, err)
		}
		if page := strings.HasPrefix(what, "of ") || what == "with a backslash"; page != (len(f.Notices()) == 1) {
			t.Errorf("%s: the notices are %q", what, f.Notices())
		}
		must(t, f.Close())
	}
}
