package shard_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
)

// headerOf is that of a member of that many bytes, which need not follow.
func headerOf(name string, size int64) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000644\x000000000\x000000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x00", size))
	copy(b[136:], "00000000000\x00        0")
	copy(b[257:], "ustar\x0000")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

// TestHostile: a tar that claims what it has not is an error that names the file and what is wrong.
func TestHostile(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	image := tarMember{"a.jpg", string(photo)}
	for what, c := range map[string]struct {
		members []tarMember
		tail    []byte
		m       map[string]string
		want    string
		skips   int
	}{
		"good":                      {members: []tarMember{image}},
		"cut within a member":       {tail: append(headerOf("a.jpg", 1<<33), photo...), want: "would have 8589934592 bytes"},
		"cut within a header":       {tail: headerOf("a.jpg", 1<<20)[:300], want: "EOF"},
		"not a tar":                 {tail: bytes.Repeat([]byte("x"), 2048), want: "invalid tar header"},
		"a value twice":             {members: []tarMember{image, {"a.cls", "1"}, image}, want: `"a" has two values of jpg`},
		"apart":                     {members: []tarMember{image, {"b.jpg", string(photo)}, {"a.cls", "1"}, {"b.cls", "0"}}},
		"out of the folder":         {members: []tarMember{{"../a.jpg", string(photo)}, {"/b.jpg", string(photo)}, {"x/../c.jpg", string(photo)}, image}, skips: 3},
		"no names":                  {members: []tarMember{{".hidden", "x"}, {"README", "x"}, image, {"__meta__", "x"}}, skips: 2},
		"only names that are wrong": {members: []tarMember{{"../a.jpg", string(photo)}}, want: "none of its 1 samples can be read"},
		"nothing":                   {tail: make([]byte, 1024), want: "it has no samples"},
		"no image":                  {members: []tarMember{{"a.cls", "1"}}, want: "no sample has an image"},
		"images that are none":      {members: []tarMember{{"a.jpg", "no image"}}, want: "no sample has an image"},
		"a class of a megabyte":     {members: []tarMember{image, {"a.cls", strings.Repeat("c", 1<<20)}}, want: "a class of 1048576 bytes"},
		"a label in no JSON":        {members: []tarMember{image, {"a.json", "{"}}, m: map[string]string{"label": "json.x"}, want: "there is no object"},
		"a list as the label":       {members: []tarMember{image, {"a.json", `{"x": [1]}`}}, m: map[string]string{"label": "json.x"}, want: "list or an object"},
		"deep JSON":                 {members: []tarMember{image, {"a.json", strings.Repeat(`{"x":`, 1<<20)}}, m: map[string]string{"label": "json.x"}, want: "there is no object"},
		"classes without an end":    {members: []tarMember{image, {"a.cls", "99999999999999999999"}}},
		"an array that is none":     {members: []tarMember{image, {"a.npy", "\x93NUMPY\x01\x00\xff\xff"}}},
		"two archives":              {members: []tarMember{image}, tail: headerOf("b.jpg", 0), skips: 1},
	} {
		path := filepath.Join(dir, "x.tar")
		if c.members != nil {
			tarOf(t, path, c.members...)
		} else {
			must(t, os.WriteFile(path, nil, 0o644))
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.Write(c.tail)
		must(t, errors.Join(err, f.Close()))
		ds, err := shard.WebDataset{}.OpenWith(t.Context(), path, formats.ReadOptions{Map: c.m})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "x.tar")) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
		if err != nil {
			continue
		}
		var s formats.Sample
		for i := range ds.Len() {
			if err := ds.Read(i, &s); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if skips := ds.(formats.Skipper).Skips(); len(skips) != c.skips {
			t.Errorf("%s: %v, want %d skips", what, skips, c.skips)
		}
		ds.Close()
	}
}

// TestManyKinds: thousands of extensions are refused before they take memory.
func TestManyKinds(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var list []tarMember
	for i := range 2000 {
		list = append(list, tarMember{fmt.Sprintf("a.x%d", i), ""})
	}
	path := filepath.Join(t.TempDir(), "x.tar")
	tarOf(t, path, list...)
	if _, err := (shard.WebDataset{}).Open(path); err == nil || !strings.Contains(err.Error(), "more than 1000 kinds") {
		t.Error(err)
	}
}

// FuzzTar: no tar ends the program, and what is opened can be read or says why not.
func FuzzTar(f *testing.F) {
	dir := f.TempDir()
	for k, list := range [][]tarMember{pairs(2, "a"), {{"a.jpg", string(photo)}, {"a.json", `{"x": 1}`}, {"a.npy", "\x93NUMPY\x01\x00"}}, {{"a/b.c.png", string(photo)}}} {
		path := filepath.Join(dir, fmt.Sprintf("%d.tar", k))
		tarOf(f, path, list...)
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "json.x")
	}
	f.Fuzz(func(t *testing.T, data []byte, label string) {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		path := filepath.Join(t.TempDir(), "x.tar")
		must(t, os.WriteFile(path, data, 0o644))
		for _, m := range []map[string]string{nil, {"label": label}} {
			ds, err := shard.WebDataset{}.OpenWith(t.Context(), path, formats.ReadOptions{Map: m})
			if err != nil {
				continue
			}
			var s formats.Sample
			for i := range min(ds.Len(), 100) {
				_ = ds.Read(i, &s)
			}
			ds.Close()
		}
	})
}
