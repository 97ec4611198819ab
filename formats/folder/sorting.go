package folder

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/listing"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/wire"
)

// sorting is what a folder's samples are sorted with: by stem, to find their keys, then by key. Both Sorters
// may be full at the same time.
type sorting struct {
	found *listing.Files
	keys  *extsort.Sorter
	kept  int64 // bytes of records in memory
}

func newSorting(cfg *Config) *sorting {
	memory := cmp.Or(cfg.Memory, defaultMemory)
	l := &sorting{keys: extsort.New("", memory*3/8), kept: min(memory/8, 8<<20)}
	l.found = listing.NewFiles(memory*3/8, len(cfg.Fields) == 0 && cfg.Labels == "" && !cfg.fieldOptions().Any())
	return l
}

func (l *sorting) close() error { return errors.Join(l.found.Close(), l.keys.Close()) }

// add adds the samples of the files that were found.
func (d *Dataset) add(ctx context.Context, l *sorting) error {
	var record []byte
	counts := map[string]int{}
	err := l.found.Each(d.source.includes, func(f vfs.File, key string) error {
		it := &sample{File: f, key: key}
		it.key = d.fields.LocateKey(&it.File, key)
		var why string
		if err := formats.CheckKey(it.key); err != nil {
			why = err.Error()
		} else {
			why = d.source.label(it)
		}
		if why != "" {
			d.skips = append(d.skips, formats.Skip{Path: f.Path, Cause: why})
			return ctx.Err()
		}
		if it.key == it.Place() && vfs.ImageStem(f.Path) != f.Path {
			d.keepExtension = append(d.keepExtension, f.Path)
		}
		for k := range d.columns {
			d.columns[k].count(it.labels, k)
		}
		counts[it.split]++
		d.fields.Claim(&it.File)
		d.meta.Stats.Bytes += it.Size
		record = it.record(record[:0])
		return errors.Join(ctx.Err(), l.keys.Add([]byte(it.key), record))
	})
	d.questions = l.found.Questions
	if err == nil {
		err = l.found.Close() // its memory is needed no more
	}
	if err == nil {
		d.records, err = extsort.NewList(l.keys, l.kept)
	}
	if err != nil {
		return fmt.Errorf("list the files of %s: %w", d.in, err)
	}
	if err := d.fields.CountUnused(); err != nil {
		return err
	}
	slices.Sort(d.keepExtension)
	d.countSplits(counts)
	return nil
}

// countSplits sets the counts of the samples and of the splits.
func (d *Dataset) countSplits(counts map[string]int) {
	d.meta.Count = d.Len()
	for _, name := range slices.Concat(layout.Splits, slices.Sorted(maps.Keys(counts))) {
		if counts[name] > 0 && name != "" {
			d.meta.Splits = append(d.meta.Splits, formats.Split{Name: name, Count: counts[name]})
			delete(counts, name)
		}
	}
}

type sample struct {
	vfs.File
	key, split string
	labels     []int64 // one per label field of the schema, a number as its bits; the set classes if multi-hot
	columns    []string
	row        []string // of the table, if there is a description
}

// record encodes what tells the sample from others of its key; decode reads it.
func (it *sample) record(b []byte) []byte {
	n := 0
	for n < min(len(it.key), len(it.Path)) && it.key[n] == it.Path[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = wire.AppendBytes(b, it.Path[n:])
	b = binary.AppendUvarint(b, uint64(it.Size))
	return binary.AppendUvarint(b, uint64(it.ModTime))
}

func (it *sample) Decode(key, record []byte) error {
	value := wire.Cursor{B: record}
	n := value.Number(int64(len(key)))
	it.Path = string(key[:n]) + string(value.Bytes())
	if it.key = it.Path[:n]; int(n) < len(key) {
		it.key = string(key)
	}
	it.Size, it.ModTime = value.Varint(), value.Varint()
	if value.Failed {
		return extsort.ErrDamagedList
	}
	return nil
}

// SystemFolder is a hidden or system folder, such as .git or __MACOSX, whose images are left out.
type SystemFolder struct {
	Path   string `json:"path"`
	Images int    `json:"images"`
}

// listLeftOut sets what the scan found and left out. Their images are not the dataset's, whatever it has.
func (d *Dataset) listLeftOut(s *listing.Scan, p *formats.Patterns) {
	for _, folder := range slices.Sorted(maps.Keys(s.System.Counts)) {
		flags := fmt.Sprintf("--include '%s/'", folder)
		if len(p.Include) == 0 {
			flags = "--include '*' " + flags
		}
		n := s.System.Counts[folder]
		d.system = append(d.system, SystemFolder{Path: folder, Images: n})
		d.skips = append(d.skips, formats.Skip{Path: folder, Cause: fmt.Sprintf("%d image(s) in a hidden or system folder, which is no class; to pack them too: %s", n, flags)})
	}
	if l, ok := d.source.(*labeler); ok && l.table == nil {
		d.empty = s.Classes.Empty(&l.layout)
	}
}

// SystemFolders returns the hidden and system folders whose images are left out, by path. Skips has them
// too. Config.Patterns.Include packs a folder that it names; with a table of labels none is left out.
func (d *Dataset) SystemFolders() []SystemFolder { return d.system }

// EmptyFolders returns the folders in the place of a class that have no image, by path. They are no classes.
func (d *Dataset) EmptyFolders() []string { return d.empty }

// leaveOutTexts ignores files that are text, such as a README: only those that a table names were meant to be images.
func (d *Dataset) leaveOutTexts(texts []string) {
	l, _ := d.source.(*labeler)
	for _, rel := range texts {
		if l != nil && l.table != nil && l.table.Rows[rel] != nil {
			d.skips = append(d.skips, formats.Skip{Path: rel, Cause: "not an image: it is text"})
		} else {
			d.ignored++
		}
	}
}

// listArchives skips the archives in the folder, whose images would be missing without a word: some classes of a folder
// may be unpacked and others not. Tables of labels, as ImageNet's devkit, and shards that dsconv wrote are none of them.
func (d *Dataset) listArchives(found []string, cfg *Config) {
	tables := append(slices.Collect(maps.Values(cfg.FolderLabels)), cfg.Labels, cfg.ClassOrder)
	for _, rel := range found {
		file := d.in.Join(rel)
		if sharded.IsOwn(file) || slices.ContainsFunc(tables, func(table string) bool { return isSameFile(table, file) }) {
			d.ignored++
			continue
		}
		d.skips = append(d.skips, formats.Skip{Path: rel, Cause: fmt.Sprintf("an archive in a folder of images is not read: unpack it, or give it as one more source, as in NAME=%s; --exclude leaves it out", file)})
	}
}

func isSameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// suggestArchives returns what to do with the archives in a folder without images; "" if it has none.
func suggestArchives(dir string) string {
	entries, err := os.ReadDir(dir)
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return vfs.HasArchiveName(e.Name()) })
	if err != nil || i < 0 {
		return ""
	}
	return fmt.Sprintf("; it has archives: give them as sources, as in train=%s, or %s if each has the images of one class, or %s if they are shards",
		filepath.Join(dir, entries[i].Name()), "--source-format archive", "--source-format webdataset")
}

var _ formats.Incomplete = (*Dataset)(nil)

// Unreadable implements formats.Incomplete: the skipped files and folders that exist, and links that lead
// nowhere, by path.
func (d *Dataset) Unreadable() []string { return slices.Clone(d.unreadable) }

// Excludes implements formats.Incomplete: it reports whether there is a file at path, relative to the
// folder, that Config.Patterns leave out. If the folder cannot tell, it reports true.
func (d *Dataset) Excludes(path string) bool {
	if path == "" || d.filter.IncludesFile(path) {
		return false
	}
	_, err := d.in.Lstat(path)
	return !durable.IsMissing(err)
}

// listUnreadable sets d.unreadable.
func (d *Dataset) listUnreadable() {
	for _, k := range d.skips {
		// A row of a table may name a file that is not there.
		if _, err := d.in.Lstat(k.Path); !durable.IsMissing(err) {
			d.unreadable = append(d.unreadable, k.Path)
		}
	}
	slices.SortFunc(d.unreadable, strings.Compare)
}

var _ formats.Identifier = (*Dataset)(nil)

// Identify implements formats.Identifier: two folders, one of images and one of masks perhaps,
// may have files of the same names, sizes and times, and two tables may give the same files other
// labels.
func (d *Dataset) Identify(w io.Writer) error {
	if err := d.gate.Check(); err != nil {
		return err
	}
	all, err := d.in.Identify(w)
	if err != nil {
		return err
	}
	for i := range d.Len() {
		it, err := d.sample(i)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, it.labels, it.columns); err != nil {
			return err
		}
		if all {
			continue
		}
		if err := cmp.Or(it.Identify(d.in, w), d.fields.Identify(&it.File, w)); err != nil {
			return err
		}
	}
	return nil
}
