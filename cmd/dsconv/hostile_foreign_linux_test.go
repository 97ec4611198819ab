package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/tfexample"
)

// treeUnderItself is an LMDB whose first branch leads to itself.
func treeUnderItself(t *testing.T) []byte {
	t.Helper()
	b := read(t, "../../formats/lmdb/testdata/others.mdb")
	for at := 2 * 4096; at < len(b); at += 4096 {
		if binary.NativeEndian.Uint16(b[at+10:]) == 1 {
			node := at + int(binary.NativeEndian.Uint16(b[at+16:]))
			binary.NativeEndian.PutUint32(b[node:], uint32(at/4096))
			return b
		}
	}
	t.Fatal("no branch")
	return nil
}

func gzipOf(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

// Datasets of other programs that claim what they have not are refused by name, within the budget. zeros.parquet has
// one image of 64 MiB of zeros in 2 KB (pyarrow, zstd, without statistics).
func TestHostileForeignFiles(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	shard := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 1<<31-1), 1<<31-1)
	index := fmt.Sprintf(`{"version": 2, "shards": [{"column_names": ["img"], "column_encodings": ["jpeg"], "column_sizes": [null], "compression": null, "format": "mds",
		"hashes": [], "raw_data": {"basename": "s.mds", "bytes": %d, "hashes": {}}, "samples": 2147483647, "size_limit": 9, "version": 2, "zip_data": null}]}`, len(shard))
	zipped := strings.NewReplacer(`"compression": null`, `"compression": "gz"`, `"zip_data": null`, `"zip_data": {"basename": "s.mds.gz"}`, fmt.Sprint(`"bytes": `, len(shard)), `"bytes": 1073741824`).Replace(index)
	record := tfexample.AppendFrameHead(nil, 1<<60)
	for name, c := range map[string]struct {
		files map[string][]byte // with "" the source is the folder
		want  string
	}{
		"parquet":    {map[string][]byte{"x.parquet": read(t, "testdata/zeros.parquet")}, "claims 67108877 before compression"},
		"mds":        {map[string][]byte{"index.json": []byte(index), "s.mds": shard, "": nil}, "cannot be in"},
		"mds.gz":     {map[string][]byte{"index.json": []byte(zipped), "s.mds.gz": gzipOf(t, shard), "": nil}, "of 1073741824 bytes it has 8"},
		"webdataset": {map[string][]byte{"x.tar": append(append(tarHeader(t, "a.cls", 1), make([]byte, 512)...), tarHeader(t, "a.jpg", 8<<30-1)...)}, "x.tar"},
		"tfrecord":   {map[string][]byte{"x.tfrecord": append(record, make([]byte, 64)...)}, "x.tfrecord"},
		"lmdb":       {map[string][]byte{"data.mdb": treeUnderItself(t), "": nil}, "page"},
	} {
		t.Run(name, func(t *testing.T) {
			src := filepath.Join(t.TempDir(), "claims")
			must(t, os.Mkdir(src, 0o755))
			path := src
			_, isFolder := c.files[""]
			for file, b := range c.files {
				if file == "" {
					continue
				}
				must(t, os.WriteFile(filepath.Join(src, file), b, 0o644))
				if !isFolder {
					path = filepath.Join(src, file)
				}
			}
			said, _ := packsWithin(t, path, exitFailed)
			if !strings.Contains(said, "claims") || !strings.Contains(said, c.want) {
				t.Errorf("not %q: %s", c.want, said)
			}
		})
	}
}
