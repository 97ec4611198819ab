package sharded

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Contents is the content of a sidecar. The dataset beside it may have been copied or renamed
// since it was written, so the path under which it is opened decides the names of its files:
// file i is the one with that number, whatever its name was. So a copy never reads the files of
// the dataset that it was copied from, and an edit of the copy never changes them.
type Contents struct {
	meta          *formats.Meta      // whose Files are the current names
	Checksums     checksum.Checksums // with the current names
	OriginalFiles []string           // of the data files, when they were written
	dir           string
	// otherNames: no file has the name that the path gives it, but files with other names share
	// the sidecar. Meta.Files are then the original names.
	otherNames bool
}

// OpenSidecar reads the sidecar of the dataset at p.
func (p ShardPath) OpenSidecar() (Contents, error) {
	return p.openSidecarAt(p.Sidecar())
}

// openSidecarAt is openSidecar with the sidecar in another folder.
func (p ShardPath) openSidecarAt(dir string) (Contents, error) {
	meta, sums, err := sidecar.Read(dir)
	if err != nil {
		return Contents{}, err
	}
	d := Contents{OriginalFiles: meta.Files, dir: dir}
	for _, name := range d.OriginalFiles {
		if name != filepath.Base(name) {
			return d, fmt.Errorf("%s: %w: a shard is named %q", dir, formats.ErrDamaged, name)
		}
	}
	d.otherNames = !p.IsPattern() && len(d.OriginalFiles) > 1 || p.onlyOthersExist(d.OriginalFiles)
	m := *meta
	if !d.otherNames {
		m.Files = p.names(len(d.OriginalFiles))
	}
	d.meta, d.Checksums = &m, p.renameChecksums(d.OriginalFiles, m.Files, sums)
	return d, nil
}

// Describe opens the index of the dataset. With salvage, one that is damaged is made again.
func (d *Contents) Describe(salvage bool) (description.Description, error) {
	return sidecar.Describe(d.dir, d.meta, d.Checksums, sidecar.Places{}, salvage)
}

// names returns the names of the first n shards.
func (p ShardPath) names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = p.Name(i)
	}
	return names
}

// onlyOthersExist reports whether none of p's files exists, but other files share its sidecar.
// It is false if p's names are the original ones.
func (p ShardPath) onlyOthersExist(written []string) bool {
	names := p.names(len(written))
	return !slices.Equal(names, written) && !slices.ContainsFunc(names, p.has) && len(p.datasetsSharingSidecar()) > 0
}

func (p ShardPath) has(name string) bool { return durable.Exists(filepath.Join(p.Dir, name)) }

// renameChecksums returns the table of checksums with the current names of the data files and
// of the sidecar.
func (p ShardPath) renameChecksums(written, now []string, sums checksum.Checksums) checksum.Checksums {
	data := make(map[string]string, len(written))
	for i, name := range written {
		data[name] = now[i]
	}
	sums = slices.Clone(sums)
	side := filepath.Base(p.Sidecar())
	for i := range sums {
		fs := &sums[i]
		if name, ok := data[fs.Name]; ok {
			fs.Name = name
		} else if dir, name := path.Split(fs.Name); strings.HasSuffix(dir, sidecarSuffix+"/") {
			fs.Name = side + "/" + name
		}
	}
	return sums
}

// renamed reports whether the files had other names when they were written.
func (d *Contents) renamed() bool { return !slices.Equal(d.OriginalFiles, d.meta.Files) }

// staleIndexFiles lists the sidecar's files for other programs that contain the original names,
// if those differ from the current names.
func (d *Contents) staleIndexFiles() []string {
	if !d.renamed() {
		return nil
	}
	var names []string
	for _, fs := range d.Checksums {
		if dir, name := path.Split(fs.Name); dir != "" && !slices.Contains([]string{sidecar.ManifestName, manifest.MetaName, indexfile.Name, checksum.ChecksumsName}, name) {
			names = append(names, name)
		}
	}
	return names
}

// ChecksumsIn returns the table of checksums of a sidecar with the current names, or with the
// original names if the rest of the sidecar cannot be read.
func (p ShardPath) ChecksumsIn(dir string) (checksum.Checksums, error) {
	if d, err := p.openSidecarAt(dir); err == nil {
		return d.Checksums, nil
	}
	return checksum.ReadChecksums(dir)
}
