package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench/internal/pagecache"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/internal/figures"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/reader"
)

const (
	// maxColdRounds is the most cold epochs: slow disks make them long, and they differ little.
	maxColdRounds = 3
	// mostlyWarm is the share of a dataset in memory from which an epoch is not called cold.
	mostlyWarm = 0.1
)

func (o *Options) coldRounds() int { return min(o.Rounds, maxColdRounds) }

// cold measures epochs of s that begin with none of its files in the page cache. Nobody may have the files mapped then,
// so s is closed and opened again: cold comes after all that uses s.
func (b *bench) cold(ctx context.Context, s *subject) error {
	if !b.options.Cold {
		return nil
	}
	files, err := filesOf(s.result.Path, s.plain)
	if err != nil {
		return fmt.Errorf("list the files to drop from the page cache: %w", err)
	}
	s.count()
	r := Rung{Name: storedCold}
	var rounds []Round
	for round := 1; round <= b.options.coldRounds() && r.Note == ""; round++ {
		m, why, err := b.coldTurn(ctx, s, files, round)
		if err != nil {
			return fmt.Errorf("%s: %w", storedCold, err)
		}
		if r.Note = why; why == "" {
			rounds = append(rounds, m)
			b.tell(s, storedCold, round, &m)
		}
	}
	s.addCold(r, rounds)
	return nil
}

// coldTurn drops s's files and measures epochs. why says why that is not possible.
func (b *bench) coldTurn(ctx context.Context, s *subject, files []string, round int) (m Round, why string, err error) {
	if err := s.close(); err != nil {
		return m, "", err
	}
	left, dropping := pagecache.Drop(ctx, files)
	if ctx.Err() != nil {
		return m, "", ctx.Err()
	}
	config := b.options.Config
	config.Split, config.Cache = s.result.Split, reader.Cache{}
	if err := b.open(ctx, s, config); err != nil {
		return m, "", err
	}
	if why := whyWarm(left, dropping); why != "" {
		return m, why, nil
	}
	runtime.GC()
	// One epoch: the next one would not be cold.
	m, err = s.measure(ctx, round, 1, b.options.LimitBatches)
	return m, "", err
}

// whyWarm says why files are still in memory after they were dropped; "" if they are not.
func whyWarm(left float64, err error) string {
	switch {
	case errors.Is(err, pagecache.ErrUnknown):
		return "not measured: the system does not tell this user whether the files are in memory; run it as their owner, on Linux"
	case err != nil:
		return fmt.Sprintf("not measured: %v", err)
	case left > mostlyWarm:
		return fmt.Sprintf("not measured: %s of the files stays in memory; other programs have them open, or the disk is memory (tmpfs)", figures.Percent(left))
	}
	return ""
}

// addCold adds the cold rung, and that of the warm epochs if Options.Isolate has not measured it.
func (s *subject) addCold(r Rung, rounds []Round) {
	d := &s.result
	if len(d.Rungs) == 0 {
		d.Rungs = []Rung{{Name: stored, EpochSeconds: epochOf(d.Rounds), ImagesPerSecond: rateOf(d.Rounds)}}
	}
	if len(rounds) > 0 {
		warm := &d.Rungs[0]
		r.ImagesPerSecond = rateOf(rounds)
		r.EpochSeconds = ratio(warm.EpochSeconds*warm.ImagesPerSecond, r.ImagesPerSecond)
		warm.Saved = r.EpochSeconds - warm.EpochSeconds
		cold := Dataset{Rounds: rounds}
		cold.medians()
		s.loop.coldRead = cold.Stages.Read
	}
	d.Rungs = slices.Insert(d.Rungs, 0, r)
}

// archiveOf returns the file that a path in an archive begins with.
func archiveOf(path string) string {
	for up := path; up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Stat(up); err == nil {
			return up
		}
	}
	return path
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// imageFiles lists the files of the images of ds, which is read from the sources: archives as a whole.
func imageFiles(sources []dsconv.Source, ds formats.Dataset) (files []string, err error) {
	for _, source := range sources {
		if !isDir(source.Path) {
			files = append(files, archiveOf(source.Path))
		} else if classes := archive.ListClassArchives(source.Path); len(classes) > 0 {
			files = append(files, classes...)
		}
	}
	for i := range ds.Len() {
		in, err := ds.Info(i)
		if err != nil {
			return nil, err
		}
		for _, source := range sources {
			file, below := in.Source.Path, true
			if source.Name != "" {
				file, below = strings.CutPrefix(file, source.Name+"/")
			}
			if file = filepath.Join(source.Path, filepath.FromSlash(file)); below && isFile(file) {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// filesOf lists the files that hold the dataset at path.
func filesOf(path string, ds formats.Dataset) (files []string, err error) {
	list, ok := ds.(interface {
		IsList() bool
		Root() string
	})
	if ok && list.IsList() {
		path = list.Root() // the folder that has its images
	}
	if ds.Meta().Format == "folder" {
		return imageFiles(dsconv.SplitSources(path), ds)
	}
	if f, ok := ds.(formats.Filed); ok {
		return f.DataFiles(), nil
	}
	roots, err := rootsOf(path)
	if err != nil {
		return nil, err
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// rootsOf are the files and folders of the packed dataset at path: its shards, if they are several.
func rootsOf(path string) ([]string, error) {
	p, err := sharded.ParseShardPath(path)
	if err != nil {
		return nil, err
	}
	if shards, err := p.ExistingFiles(); err == nil && len(shards) > 0 {
		return shards, nil
	}
	return []string{path}, nil
}
