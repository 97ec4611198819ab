package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// The JSON has the same value, without hidden characters.
func FuzzWriteJSON(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}
	f.Add("a<b>&\"\\u0041\u00a0\u3000\ufffd\U0010ffff")
	f.Fuzz(func(t *testing.T, text string) {
		var out, plain bytes.Buffer
		value := map[string][]string{text: {text, "x"}}
		if err := writeJSON(&out, value, "  "); err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&plain).Encode(value); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) || r == utf8.RuneError }) {
			t.Errorf("%q: %q", text, out.String())
		}
		var got, want map[string][]string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%q: %v", out.String(), err)
		}
		if err := json.Unmarshal(plain.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		for k, v := range want {
			if len(got) != 1 || strings.Join(got[k], "|") != strings.Join(v, "|") {
				t.Errorf("%q became %q", want, got)
			}
		}
	})
}
