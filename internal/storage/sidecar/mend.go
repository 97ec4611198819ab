package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Mended is what Mend finds out. The names are those of the files that it writes again.
type Mended struct {
	Names   []string
	Rebuilt bool // the table of checksums is of the files as they are now
}

// Mend restores dataset.json and the table of checksums in dir. Checksums tell which bit was flipped. If the table is
// missing, or has more damage, it is made of the files as they are; whether these are what was written, the caller must find out
// with the index and the samples' checksums. With dry nothing is written.
func Mend(ctx context.Context, dir string, dry bool) (done Mended, err error) {
	b, err := unblocked.ReadFile(filepath.Join(dir, checksum.ChecksumsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	put := func(name string, b []byte) error {
		done.Names = append(done.Names, name)
		if dry {
			return nil
		}
		return durable.WriteFile(filepath.Join(dir, name), b)
	}
	sums, err := checksum.DecodeChecksums(b)
	if err != nil {
		if sums, err = checksum.Correct(b); err != nil {
			done.Rebuilt = true
			if sums, err = tableOf(ctx, dir); err != nil {
				return done, err
			}
		}
		if err := put(checksum.ChecksumsName, sums.Encode()); err != nil {
			return done, err
		}
	}
	if _, err := sums.ReadSmall(dir, manifest.MetaName); !errors.Is(err, formats.ErrDamaged) {
		return done, err
	}
	of, err := find(dir, sums, manifest.MetaName)
	if err == nil {
		b, err = unblocked.ReadFile(filepath.Join(dir, manifest.MetaName))
	}
	if err != nil {
		return done, err
	}
	for i := range min(len(of.Blocks), len(b)/checksum.BlockSize+1) {
		checksum.CorrectBit(b[i*checksum.BlockSize:min((i+1)*checksum.BlockSize, len(b))], of.Blocks[i])
	}
	if err := of.Verify(b); err != nil {
		return done, fmt.Errorf("%s: %w, in more than one bit", filepath.Join(dir, manifest.MetaName), err)
	}
	return done, put(manifest.MetaName, b)
}

// tableOf makes the table of checksums of the files that the dataset in dir has.
func tableOf(ctx context.Context, dir string) (sums checksum.Checksums, err error) {
	b, err := unblocked.ReadFile(filepath.Join(dir, manifest.MetaName))
	if err != nil {
		return nil, err
	}
	m, err := manifest.DecodeMeta(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	in, prefix, data := dir, "", []string{"data.mdb", "fields/data.mdb"}
	if len(m.Files) > 0 {
		in, prefix, data = filepath.Dir(dir), filepath.Base(dir)+"/", m.Files
	}
	add := func(in, name, prefix string, must bool) error {
		of, err := checksum.OfFile(filepath.Join(in, filepath.FromSlash(name)), prefix+name, -1)
		if errors.Is(err, fs.ErrNotExist) && !must {
			return nil
		}
		sums = append(sums, of)
		return errors.Join(err, ctx.Err())
	}
	for i, name := range data {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s: %w: a data file is named %q", dir, formats.ErrDamaged, name)
		}
		if err := add(in, name, "", len(m.Files) > 0 || i == 0); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{ManifestName, manifest.MetaName, indexfile.Name} {
		if err := add(dir, name, prefix, name != indexfile.Name); err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil && isExtra(e.Name(), m.Files) {
			err = add(dir, e.Name(), prefix, true)
		}
	}
	return sums, err
}

// isExtra reports whether a file of a sidecar is the list of removed samples or an index for other programs.
func isExtra(name string, files []string) bool {
	stem, ext := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
	index := (ext == ".idx" || ext == ".tfindex") && slices.ContainsFunc(files, func(file string) bool { return strings.HasPrefix(file, stem) })
	return name == RemovedName || name == "wids.json" && len(files) > 0 || index
}
