package mds_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/mds"
	"github.com/dsconv/dsconv/internal/testing/hostile"
)

// shard is a data file with the samples, in the layout of MDSWriter.
func shard(samples ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(samples)))
	at := 4 + 4*(len(samples)+1)
	b = binary.LittleEndian.AppendUint32(b, uint32(at))
	for _, s := range samples {
		at += len(s)
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
	}
	for _, s := range samples {
		b = append(b, s...)
	}
	return b
}

// sample is one of the columns img (jpeg) and y (int).
func sample(label int64) []byte {
	photo := hostile.PNG(4, 4, 8, 0)
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(photo)))
	return binary.LittleEndian.AppendUint64(append(b, photo...), uint64(label))
}

// describedBy is an index.json of one shard after change.
func describedBy(size, samples int, change func(shard map[string]any)) []byte {
	one := map[string]any{
		"column_names": []string{"img", "y"}, "column_encodings": []string{"jpeg", "int"}, "column_sizes": []any{nil, 8},
		"compression": nil, "format": "mds", "hashes": []string{}, "raw_data": map[string]any{"basename": "shard.00000.mds", "bytes": size, "hashes": map[string]any{}},
		"samples": samples, "size_limit": 1 << 26, "version": 2, "zip_data": nil,
	}
	if change != nil {
		change(one)
	}
	b, _ := json.Marshal(map[string]any{"version": 2, "shards": []any{one}})
	return b
}

func place(t testing.TB, index, data []byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "index.json"), index, 0o644), os.WriteFile(filepath.Join(dir, "shard.00000.mds"), data, 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestHostile: an index or a shard that claims what it has not is an error that names the file.
func TestHostile(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	good := shard(sample(0), sample(1))
	patched := func(at int, x uint32) []byte {
		b := append([]byte{}, good...)
		binary.LittleEndian.PutUint32(b[at:], x)
		return b
	}
	set := func(name string, value any) func(map[string]any) {
		return func(s map[string]any) { s[name] = value }
	}
	file := func(name string) func(map[string]any) {
		return set("raw_data", map[string]any{"basename": name, "bytes": len(good)})
	}
	for what, c := range map[string]struct {
		data    []byte
		samples int
		change  func(map[string]any)
		want    string
	}{
		"good":                  {good, 2, nil, ""},
		"shorter":               {good[:len(good)-1], 2, file("shard.00000.mds"), "index.json says"},
		"more samples":          {good, 3, nil, "number of its samples"},
		"billions of samples":   {patched(0, 1<<31-1), 1<<31 - 1, nil, "cannot be in"},
		"too many samples":      {patched(0, 1<<31-1), 1 << 40, nil, "at most"},
		"negative samples":      {good, -1, nil, "-1 samples"},
		"an offset behind":      {patched(8, 1<<31), 2, nil, "shard.00000.mds: damaged: sample 0 would be"},
		"an offset backwards":   {patched(8, 5), 2, nil, "would be the bytes"},
		"an offset in the head": {patched(4, 4), 2, nil, "would be the bytes"},
		"a size behind":         {patched(16, 1<<32-1), 2, nil, `"img" would have`},
		"a size too small":      {patched(16, 1), 2, nil, "are left"},
		"a negative size":       {good, 2, set("column_sizes", []any{nil, -8}), "has -8 bytes"},
		"a size missing":        {good, 2, set("column_sizes", []any{nil}), "1 sizes"},
		"no columns":            {good, 2, set("column_names", []any{}), "0 columns"},
		"a column twice":        {good, 2, set("column_names", []any{"y", "y"}), "two columns"},
		"another encoding":      {good, 2, set("column_encodings", []any{"jpeg", "uint8"}), "a number of 8 bytes"},
		"a file elsewhere":      {good, 2, file("../shard.00000.mds"), "leads out"},
		"an absolute file":      {good, 2, file("/etc/passwd"), "leads out"},
		"a file that is not":    {good, 2, file("x.mds"), "index.json: shard 0: its file x.mds is missing: copy or download it again"},
		"no file":               {good, 2, set("raw_data", nil), "leads out"},
		"another version":       {good, 2, set("version", 3), "version 3"},
		"no image":              {good, 2, set("column_encodings", []any{"str", "int"}), "no column has images"},
	} {
		ds, err := mds.Format{}.Open(place(t, describedBy(len(c.data), c.samples, c.change), c.data))
		if ds != nil {
			ds.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	for _, text := range []string{"", "{", `{"shards": [], "x": "column_encodings"}`, `{"shards": [{"format": "mds", "column_encodings": 1}]}`, strings.Repeat("[", 1<<20)} {
		if ds, err := (mds.Format{}).Open(place(t, []byte(text), good)); err == nil {
			ds.Close()
			t.Errorf("an index.json of %d bytes is accepted", len(text))
		}
	}
}

// TestHostileCompression: a compressed shard that is not what index.json says, or says too much, is an error that names it.
func TestHostileCompression(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	good := shard(sample(0), sample(1))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(good)
	must(t, errors.Join(err, w.Close()))
	broken := append(bytes.Clone(packed.Bytes()[:packed.Len()-5]), 1, 2, 3, 4, 5)
	for what, c := range map[string]struct {
		data   []byte
		method string
		name   string
		size   int
		want   string
	}{
		"good":              {packed.Bytes(), "gz:9", "x.gz", len(good), ""},
		"shorter":           {packed.Bytes(), "gz", "x.gz", len(good) + 1, "x.gz: damaged: of 185 bytes it has 184"},
		"longer":            {packed.Bytes(), "gz", "x.gz", len(good) - 1, "x.gz: damaged: it has more than 183 bytes"},
		"a wrong checksum":  {broken, "gz", "x.gz", len(good), "checksum"},
		"cut off":           {packed.Bytes()[:40], "gz", "x.gz", len(good), "x.gz: damaged: of 184 bytes it has 29"},
		"not compressed":    {good, "gz", "x.gz", len(good), "invalid header"},
		"another method":    {packed.Bytes(), "zstd", "x.gz", len(good), "damaged"},
		"an unknown method": {packed.Bytes(), "lz4", "x.gz", len(good), `compressed by "lz4"`},
		"gigabytes":         {packed.Bytes(), "gz", "x.gz", 1<<30 + 1, "at most 1 GiB"},
		"a file elsewhere":  {packed.Bytes(), "gz", "../x.gz", len(good), "leads out"},
		"a missing file":    {packed.Bytes(), "gz", "y.gz", len(good), "y.gz"},
	} {
		dir := t.TempDir()
		index := describedBy(c.size, 2, func(s map[string]any) {
			s["compression"], s["zip_data"] = c.method, map[string]any{"basename": c.name, "bytes": len(c.data)}
		})
		must(t, errors.Join(os.WriteFile(filepath.Join(dir, "index.json"), index, 0o644), os.WriteFile(filepath.Join(dir, "x.gz"), c.data, 0o644)))
		ds, err := mds.Format{}.Open(dir)
		if ds != nil {
			ds.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

// FuzzShard: no shard ends the program, and what is opened can be read or says why not.
func FuzzShard(f *testing.F) {
	good := shard(sample(0), sample(1))
	f.Add(good, 2, "jpeg")
	f.Add(good[:20], 1, "pil")
	f.Add(shard([]byte("\x04\x00\x00\x00\x22\x05\x01\x01aaaabbbb")), 1, "ndarray")
	f.Add(shard([]byte("\x10\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00Lxyz12345678")), 1, "pil")
	f.Fuzz(func(t *testing.T, data []byte, samples int, encoding string) {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		dir := place(t, describedBy(len(data), samples, func(s map[string]any) { s["column_encodings"] = []string{encoding, "int"} }), data)
		ds, err := mds.Format{}.OpenWith(t.Context(), dir, formats.ReadOptions{Map: map[string]string{"image": "img"}})
		if err != nil {
			return
		}
		defer ds.Close()
		var s formats.Sample
		for i := range min(ds.Len(), 100) {
			_ = ds.Read(i, &s)
		}
	})
}
