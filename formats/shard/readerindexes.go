package shard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// widsName is the sidecar's file that the `wids` library reads.
const widsName = "wids.json"

// indexer writes the index files of other programs (DALI, wids). A shard's index is built right
// after the shard ends, while the file is in the page cache; after a Resume, publish builds those
// of earlier shards.
type indexer struct {
	shards   *staging.Shards
	disabled bool // for compressed shards, which have no indexes
	done     map[string]bool
}

// endShard builds the index of the last of files unless that is done.
func (x *indexer) endShard(files []string) error {
	if x.disabled || len(files) == 0 {
		return nil
	}
	return x.build(files, len(files)-1)
}

func (x *indexer) build(files []string, shard int) error {
	if x.done[files[shard]] {
		return nil
	}
	if x.done == nil {
		x.done = map[string]bool{}
	}
	x.done[files[shard]] = true
	b, err := x.content(files, shard)
	if err != nil {
		return err
	}
	return durable.WriteFile(x.shards.Stage().Path(indexName(files[shard])), b)
}

// content returns the index of a shard: the existing one if the shard is reused.
func (x *indexer) content(files []string, shard int) ([]byte, error) {
	if x.shards.Reused(files[shard]) {
		if b, ok := x.shards.ReusedIndex(shard, indexName); ok {
			return b, nil
		}
	}
	mp, err := mapped.Map(x.shards.Path(files[shard]))
	if err != nil {
		return nil, err
	}
	defer mp.Close()
	t := x.shards.Stage().Manifest
	from, to := x.rows(shard)
	b := fmt.Appendf(nil, "v1.2 %d\n", to-from)
	for i := from; i < to; i++ {
		at := t.Location(i)
		rec, err := mp.Slice(at.Offset, at.Length)
		if err == nil {
			err = guard.Read(rec, func() (err error) {
				b, err = appendIndexLine(b, rec, at.Offset)
				return err
			})
		}
		if err != nil {
			return nil, fmt.Errorf("index %s: key %q: %w", files[shard], t.Key(i), err)
		}
	}
	return b, nil
}

// rows returns the shard's rows, from (inclusive) to to (exclusive), in the order of writing.
func (x *indexer) rows(shard int) (from, to int) {
	t := x.shards.Stage().Manifest
	from = sort.Search(t.Len(), func(i int) bool { return t.Location(i).Shard >= shard })
	to = sort.Search(t.Len(), func(i int) bool { return t.Location(i).Shard > shard })
	return from, to
}

// appendIndexLine appends to b, which ends in a newline, the line of a sample as DALI's
// wds2idx writes it: extension, offset, size and name of each member. DALI splits the line
// at spaces, so spaces in names become %20.
func appendIndexLine(b, rec []byte, offset int64) ([]byte, error) {
	for m, err := range members(rec) {
		if err != nil {
			return nil, err
		}
		if b[len(b)-1] != '\n' {
			b = append(b, ' ')
		}
		last := bytes.LastIndexByte(m.name, '/') + 1
		_, ext, _ := bytes.Cut(m.name[last:], []byte{'.'})
		b = append(b, ext...)
		b = strconv.AppendInt(append(b, ' '), offset+int64(m.offset), 10)
		b = strconv.AppendInt(append(b, ' '), int64(len(m.data)), 10)
		b = append(b, ' ')
		for _, c := range m.name {
			if c == ' ' {
				b = append(b, "%20"...)
			} else {
				b = append(b, c)
			}
		}
	}
	return append(b, '\n'), nil
}

// indexName returns the name that DALI's wds2idx gives the index of a shard.
func indexName(shard string) string { return strings.TrimSuffix(shard, plainSuffix) + ".idx" }

// publish puts all indexes into dir and returns their names.
func (x *indexer) publish(dir string) (names []string, err error) {
	if x.disabled {
		return nil, nil
	}
	stage := x.shards.Stage()
	files := stage.Meta.Files
	for i, file := range files {
		if err := x.build(files, i); err != nil {
			return nil, err
		}
		name := indexName(file)
		if err := os.Rename(stage.Path(name), filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	b, err := x.wids(files)
	if err != nil {
		return nil, err
	}
	return append(names, widsName), durable.WriteFile(filepath.Join(dir, widsName), b)
}

// wids describes the shards as webdataset's widsindex does; URLs are relative to the file.
func (x *indexer) wids(files []string) ([]byte, error) {
	type shard struct {
		URL      string `json:"url"`
		NSamples int    `json:"nsamples"`
		FileSize int64  `json:"filesize"`
	}
	desc := struct {
		Version int     `json:"wids_version"`
		Shards  []shard `json:"shardlist"`
	}{Version: 1}
	for i, file := range files {
		st, err := os.Stat(x.shards.Path(file))
		if err != nil {
			return nil, err
		}
		from, to := x.rows(i)
		desc.Shards = append(desc.Shards, shard{URL: "../" + file, NSamples: to - from, FileSize: st.Size()})
	}
	b, err := json.MarshalIndent(desc, "", "  ")
	return append(b, '\n'), err
}
