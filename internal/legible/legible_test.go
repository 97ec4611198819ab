package legible

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzNames(f *testing.F) {
	for _, name := range []string{"", "a/b c.jpg", "写真.jpg", "a\xffb", "a\nb\r\n\tc", `"a"`, `"`, `a"b`, `a\nb`, "\x1b[31m", "\u202e", "\ufffd", "`a`", "'a'"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		text, json := Name(name), UTF8(name)
		if Original(text) != name || Original(json) != name {
			t.Errorf("%q became %q and %q, which give %q and %q", name, text, json, Original(text), Original(json))
		}
		if strings.ContainsFunc(text, Hidden) || !utf8.ValidString(json) {
			t.Errorf("%q became %q and %q", name, text, json)
		}
		if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) && json != name {
			t.Errorf("%q became %q", name, json)
		}
	})
}

func TestLine(t *testing.T) {
	if got := Line("read a\nb\xff \"c\": é"); got != `read a\nb\xff "c": é` {
		t.Errorf("%s", got)
	}
}
