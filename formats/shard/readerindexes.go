package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/dsconv/dsconv/formats"
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
	disabled bool           // for compressed shards, which have no indexes
	done     map[string]int // samples of the files whose index is built
}

// endShard builds the index of the last of files unless that is done.
func (x *indexer) endShard(files []string) error {
	if x.disabled || len(files) == 0 {
		return nil
	}
	return x.build(files, len(files)-1)
}

func (x *indexer) build(files []string, shard int) error {
	if _, ok := x.done[files[shard]]; ok {
		return nil
	}
	b, err := x.content(files, shard)
	if err != nil {
		return err
	}
	return x.keep(files[shard], b)
}

// adopt keeps the index that an adopted file had; publish builds one that is missing.
func (x *indexer) adopt(a *staging.Adopted) error {
	if x.disabled {
		return nil
	}
	b, ok := a.Index(indexName)
	if !ok {
		return nil
	}
	return x.keep(a.Name, b)
}

// keep writes the index of a file to the staging folder.
func (x *indexer) keep(file string, b []byte) error {
	samples := 0
	if _, err := fmt.Sscanf(string(b[:min(len(b), 40)]), "v1.2 %d\n", &samples); err != nil {
		return fmt.Errorf("%w: the index of %s does not say how many samples it has", formats.ErrDamaged, file)
	}
	if x.done == nil {
		x.done = map[string]int{}
	}
	x.done[file] = samples
	return durable.WriteFile(x.shards.Stage().Path(indexName(file)), b)
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
	var lines []byte
	samples := 0
	err = guard.Read(mp.Data, func() (err error) {
		lines, samples, err = indexLines(mp.Data[:max(0, len(mp.Data)-len(zeros))])
		return err
	})
	if err = errors.Join(err, mp.Close()); err != nil {
		return nil, fmt.Errorf("index %s: %w", files[shard], err)
	}
	return append(fmt.Appendf(nil, "v1.2 %d\n", samples), lines...), nil
}

// indexLines returns the lines of the samples of a tar without its end, as DALI's wds2idx writes them:
// extension, offset, size and name of each member. DALI splits a line at spaces, so spaces in names become
// %20.
func indexLines(tar []byte) (b []byte, samples int, err error) {
	var last []byte
	for m, err := range members(tar) {
		if err != nil {
			return nil, 0, err
		}
		slash := bytes.LastIndexByte(m.name, '/') + 1
		stem, ext, _ := bytes.Cut(m.name[slash:], []byte{'.'})
		stem = m.name[:slash+len(stem)]
		switch {
		case samples == 0 || !bytes.Equal(stem, last):
			if samples > 0 {
				b = append(b, '\n')
			}
			samples++
			last = stem
		default:
			b = append(b, ' ')
		}
		b = append(b, ext...)
		b = strconv.AppendInt(append(b, ' '), int64(m.offset), 10)
		b = strconv.AppendInt(append(b, ' '), int64(len(m.data)), 10)
		b = append(append(b, ' '), bytes.ReplaceAll(m.name, []byte{' '}, []byte("%20"))...)
	}
	if samples > 0 {
		b = append(b, '\n')
	}
	return b, samples, nil
}

// indexName returns the name that DALI's wds2idx gives the index of a shard.
func indexName(shard string) string { return shard[:len(shard)-len(plainSuffix)] + ".idx" }

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
		if err := stage.Rename(name, path.Join(filepath.Base(dir), name)); err != nil {
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
	for _, file := range files {
		st, err := os.Stat(x.shards.Path(file))
		if err != nil {
			return nil, err
		}
		desc.Shards = append(desc.Shards, shard{URL: "../" + file, NSamples: x.done[file], FileSize: st.Size()})
	}
	b, err := json.MarshalIndent(desc, "", "  ")
	return append(b, '\n'), err
}
