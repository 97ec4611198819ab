package conformance

import (
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// hardKeys are keys that CheckKey accepts and that may cause problems in formats and tools.
func hardKeys() []string {
	long := strings.Repeat("0123456789", 60)
	return []string{
		"a", "A", "a/b", "a/b.c", "a/b/c", "a/b c", "a/b-c", "a/b.c/d", "a/b.c.d", "ab", "a.b", "a%2Eb", "a%2eb", "a%b", "100%", "%", "%%", "%00", "%d", "%2F",
		" ", " leading", "trailing ", "two words/of a path", "new\nline", "new\nline/in\na path", "\n", "tab\t", "cr\r", "\x01\x7f", "quote\"s'", "back\\slash", "a\\b\\c",
		".hidden", "dot.", "...", "a...b", ".../x", "img.v1", "img.v2", "img.v1.jpg", "x.cls", "x.json", "x.tar.gz",
		"日本語/写真", "صور/صورة", "Ünï", "e\u0301", "\u00e9", "🐈", "\u202egnp", "\ufeff", "zz", "~", "-rf", "--", "$HOME", "*?[a]{b,c}", "a:b", "C:\\x", "|;&<>",
		"9", "10", "000", "__key__", "key", "keys", "image", "data.mdb", "con", "nul",
		long[:99], long[:100], "d/" + long[:100], long[:101], long[:155] + "/" + long[:99], long[:255], long[:256] + "x", long[:formats.MaxKey], strings.Repeat("é", 255),
		strings.Repeat("d/", 255) + "x", strings.Repeat("a.b/", 100) + "c.d", strings.Repeat("%", 300), strings.Repeat(".", 511),
		strings.Repeat("\n", 500),
	}
}

// badKeys are keys that CheckKey rejects.
var badKeys = []string{"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "../a", "nul\x00", "bad\xffutf8", strings.Repeat("k", formats.MaxKey+1)}
