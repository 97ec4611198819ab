package dsconv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/items"
	"github.com/dsconv/dsconv/internal/scratch"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/preprocess"
)

// collectedName is the file for the samples of a source of unknown length, in a folder of its own.
const (
	collectedName   = "samples.tfrecord"
	collectedSuffix = ".items"
)

// mustCollect reports whether all samples of g must be known before the first one is written to dst.
func mustCollect(g formats.Growing, dst string, o *Options) (bool, error) {
	f, err := writableFormat(dst, o.Format)
	if err != nil {
		return false, err
	}
	sorted := f.Traits().Ordered && !g.Ascending()
	return sorted || !f.Match(dst) || o.CheckGrowing(f) != nil, nil
}

// packCollected packs the samples of a source of unknown length in two steps: the first collects them in a file.
func packCollected(ctx context.Context, src formats.Dataset, dst string, o Options) (*Report, error) {
	if f, err := writableFormat(dst, o.Format); err == nil && f.Match(dst) && !o.Create.Replace {
		if ds, err := f.Open(dst); err == nil {
			return &Report{}, errors.Join(fmt.Errorf("%s: %w: choose another path, or allow replacing it", dst, formats.ErrExists), ds.Close())
		}
	}
	if err := durable.CheckParent(dst); err != nil {
		return &Report{}, err
	}
	sketch := o
	sketch.Only, sketch.Patterns, sketch.Sample = nil, formats.Patterns{}, 0
	if _, err := planDataset(ctx, oneSample{src}, dst, sketch); err != nil { // rather now than after hours
		return &Report{}, err
	}
	path, remove, err := collectedFolder(src, dst)
	if err != nil {
		return &Report{}, err
	}
	first, second := collectingOptions(src, o)
	p, err := planDataset(ctx, src, path, first)
	if err != nil {
		return &Report{}, errors.Join(err, remove(false))
	}
	r, err := p.Run(ctx)
	if err != nil {
		return r, errors.Join(err, remove(false))
	}
	whole, err := packAgain(ctx, path, dst, first.Recipe, second, r)
	return whole, errors.Join(err, remove(err == nil))
}

// oneSample stands for the samples of a source of unknown length.
type oneSample struct{ formats.Dataset }

func (oneSample) Len() int { return 1 }

func (oneSample) Info(int) (formats.Info, error) {
	return formats.Info{Key: "0", Label: formats.NoLabel, Size: 1}, nil
}

// packAgain packs what was collected at path by a recipe; r is the report of that.
func packAgain(ctx context.Context, path, dst string, by preprocess.Recipe, o Options, r *Report) (*Report, error) {
	ds, err := Open(path)
	if err != nil {
		return r, err
	}
	all := &collected{Dataset: ds, meta: *ds.Meta()}
	all.meta.Recipe = nil
	all.meta.Format = "items"
	p, err := planDataset(ctx, all, dst, o)
	if err != nil {
		return r, errors.Join(err, ds.Close())
	}
	p.Report.Listed, p.Report.Skipped = r.Skipped, r.Skipped
	for _, one := range p.Datasets {
		if !by.Passthrough() {
			maps.Copy(one.Meta.Recipe, by.Map())
		}
	}
	whole, err := p.Run(ctx)
	return whole, errors.Join(err, ds.Close())
}

// collected hides how the samples were collected.
type collected struct {
	formats.Dataset
	meta formats.Meta
}

func (d *collected) Meta() *formats.Meta { return &d.meta }

// collectingOptions divides the options of a pack. Pixels are encoded when they are collected, since as they come they take
// many times the space; files are collected as they are.
func collectingOptions(src formats.Dataset, o Options) (first, second Options) {
	first = Options{Options: convert.Options{
		Order: convert.KeyOrder, Limit: o.Limit, Checkpoint: o.Checkpoint, Memory: o.Memory, Workers: o.Workers, IOWorkers: o.IOWorkers,
		OnError: o.OnError, MaxSkipped: o.MaxSkipped, Progress: o.Progress, Command: o.Command, Discard: o.Discard,
	}}
	second = o
	second.Limit = 0
	if pixels, ok := src.(interface{ Decoded() bool }); ok && pixels.Decoded() {
		first.Recipe, first.GPU = o.Recipe, o.GPU
		second.Recipe, second.GPU = preprocess.Recipe{MaxPixels: o.Recipe.MaxPixels}, nil
	}
	return first, second
}

// collectedFolder makes the folder in which samples are collected. One whose source can resume has a name that is found again.
// remove leaves such a folder in place unless all is done.
func collectedFolder(src formats.Dataset, dst string) (path string, remove func(done bool) error, err error) {
	dir := filepath.Clean(dst) + collectedSuffix
	if !src.(formats.Growing).Resumes() {
		folder, err := scratch.New(filepath.Dir(dir), "items")
		if err != nil {
			return "", nil, err
		}
		return filepath.Join(folder.Path, collectedName), func(bool) error { return folder.Remove() }, nil
	}
	path = filepath.Join(dir, collectedName)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", nil, err
	}
	if durable.Exists(path) {
		return "", nil, fmt.Errorf("%s has all samples of a writer that was interrupted when it finished: pack it to %s, and remove the folder %s", path, dst, dir)
	}
	return path, func(done bool) error {
		if !done {
			return nil
		}
		return removeCollected(dir)
	}, nil
}

// removeCollected removes the files of the collected samples, and the folder unless there is anything else in it.
func removeCollected(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), collectedName) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	_ = os.Remove(dir) // if it is empty
	return err
}

// PackItems packs the samples that other processes send, as the Python package does: header describes them as JSON, and sockets are file
// descriptors of Unix sockets, one for each process, which are closed. The format is internal to one version of dsconv.
func PackItems(ctx context.Context, header io.Reader, sockets []int, dst string, o Options) (r *Report, err error) {
	r = &Report{}
	if ctx == nil || header == nil {
		return r, wrongOptions{errors.New("dsconv.PackItems: the context or the header is nil")}
	}
	h, err := items.ReadHeader(header)
	if err != nil {
		return r, wrongOptions{err}
	}
	ds, err := openItems(h, sockets)
	if err != nil {
		return r, wrongOptions{err}
	}
	defer context.AfterFunc(ctx, func() { _ = ds.Close() })() // ends reads of processes that do not answer
	r, err = PackDataset(ctx, ds, dst, o)
	if g, ok := ds.(formats.Growing); ok && err != nil && !g.Resumes() {
		_ = staging.DiscardEmpty(dst) // a repeated call could not go on from it; what another one has begun stays
		if o.Table == "" && r.Table != "" && len(r.Skipped) == 0 {
			err = errors.Join(err, os.Remove(r.Table)) // all that it says is in err
			r.Table = ""
		}
	}
	return r, errors.Join(err, ds.Close())
}

func openItems(h *items.Header, sockets []int) (formats.Dataset, error) {
	fds := make([]uintptr, len(sockets))
	for k, fd := range sockets {
		if fd < 3 {
			return nil, fmt.Errorf("file descriptor %d: sockets begin at 3", fd)
		}
		fds[k] = uintptr(fd)
	}
	switch {
	case h.Length >= 0:
		return items.OpenIndexed(h, fds)
	case len(fds) != 1:
		return nil, fmt.Errorf("%d processes send samples of unknown number: only one can", len(fds))
	}
	return items.OpenStream(h, fds[0])
}
