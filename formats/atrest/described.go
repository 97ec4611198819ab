package atrest

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// described is what a sidecar tells of the dataset beside it. The dataset may have been copied
// or renamed since it was written. The path under which it is opened says what its files are
// called: file i is the one of that number, whatever its name was. So a copy never reads, and an
// edit of it never touches, the files of the dataset that it was copied from.
type sidecar struct {
	Description             // Files of its Meta are the names of now
	checksums     Checksums // the same
	originalNames []string  // what the data files were called when they were written
	// elsewhere: none of the files has the name that the path gives it, but other files share
	// the sidecar; Files are the names that were written.
	otherNames bool
}

// describe reads the sidecar of the dataset at p.
func (p ShardPath) openSidecar() (sidecar, error) {
	return p.openSidecarAt(p.Sidecar())
}

// describeBy is describe with the sidecar in another place.
func (p ShardPath) openSidecarAt(dir string) (sidecar, error) {
	c, sums, err := readSidecar(dir)
	if err != nil {
		return sidecar{}, err
	}
	d := sidecar{Description: c, originalNames: c.meta.Files}
	for _, name := range d.originalNames {
		if name != filepath.Base(name) {
			return d, fmt.Errorf("%s: %w: a shard is named %q", dir, formats.ErrDamaged, name)
		}
	}
	d.otherNames = !p.IsPattern() && len(d.originalNames) > 1 || p.onlyOthersExist(d.originalNames)
	m := *c.meta
	if !d.otherNames {
		m.Files = p.names(len(d.originalNames))
	}
	d.meta, d.checksums = &m, p.renameChecksums(d.originalNames, m.Files, sums)
	return d, nil
}

// names are those of the first n shards.
func (p ShardPath) names(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = p.Name(i)
	}
	return names
}

// misses reports whether none of p's files is there, but others that share its sidecar. The
// names that were written are p's own in any case.
func (p ShardPath) onlyOthersExist(written []string) bool {
	names := p.names(len(written))
	return !slices.Equal(names, written) && !slices.ContainsFunc(names, p.has) && len(p.datasetsSharingSidecar()) > 0
}

func (p ShardPath) has(name string) bool { return exists(filepath.Join(p.Dir, name)) }

// nowCalled gives the table of checksums the names of now: those of the data files, and in
// those of the sidecar's files the sidecar's.
func (p ShardPath) renameChecksums(written, now []string, sums Checksums) Checksums {
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
func (d *sidecar) renamed() bool { return !slices.Equal(d.originalNames, d.meta.Files) }

// forOthers lists the files of the sidecar that other programs read and that tell of the names
// that were written, if those are not the names of now.
func (d *sidecar) staleIndexFiles() []string {
	if !d.renamed() {
		return nil
	}
	var names []string
	for _, fs := range d.checksums {
		if dir, name := path.Split(fs.Name); dir != "" && !slices.Contains([]string{ManifestName, MetaName, ChecksumsName}, name) {
			names = append(names, name)
		}
	}
	return names
}
