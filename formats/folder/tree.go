package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Tree is a file system that is a source of its own, such as an archive (*archive.FS). It must allow concurrent reads.
type Tree = vfs.Tree

// OpenTree is Open for a Tree, which the Dataset owns: Close closes it, and so does an error. Paths in cfg are those
// of files on the disk, or else in the Tree. Keys, labels, skips and samples are those of the same files on the disk.
func OpenTree(ctx context.Context, t Tree, cfg Config) (*Dataset, error) {
	return openOwned(ctx, vfs.NewTree(t), cfg)
}

// openOwned opens in, which it closes if that fails.
func openOwned(ctx context.Context, in vfs.FS, cfg Config) (_ *Dataset, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	return openIn(ctx, in, cfg)
}

// Mount is one of several sources: a folder of the disk at Path, or the Tree, if that is not nil. Its files are below
// the folder Name, or in the root if that is "".
type Mount struct {
	Name, Path string
	Tree       Tree
}

// OpenMounts opens several sources as one folder. The Dataset owns their Trees, as OpenTree's. It is an error, which
// names both sources, if two of them have an image of the same path.
func OpenMounts(ctx context.Context, mounts []Mount, cfg Config) (*Dataset, error) {
	in, err := mountAll(mounts)
	var filter *formats.FileFilter
	if err == nil {
		filter, err = cfg.Patterns.Compile()
	}
	u := vfs.Join(in, filter)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	d, err := openOwned(ctx, u, cfg)
	if err != nil {
		return nil, err
	}
	if err := d.checkMounts(mounts); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	for _, m := range mounts {
		if m.Tree == nil && isEmptyFolder(m.Path) {
			d.notices = append(d.notices, fmt.Sprintf("the source %s is an empty folder: is it mounted?", m.Path))
		}
	}
	return d, nil
}

func isEmptyFolder(path string) bool {
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.ReadDir(1)
	return errors.Is(err, io.EOF)
}

// mountAll returns all mounts, so that all can be closed, and an error about those that are wrong.
func mountAll(mounts []Mount) (all []vfs.Mount, err error) {
	for _, m := range mounts {
		in := vfs.OnDisk(m.Path)
		if m.Tree != nil {
			in = vfs.NewTree(m.Tree)
		}
		all = append(all, vfs.Mount{Name: m.Name, In: in})
		switch {
		case m.Name != "" && (strings.ContainsAny(m.Name, "/\\") || formats.CheckKey(m.Name) != nil):
			err = errors.Join(err, fmt.Errorf("%q cannot be the name of a folder for %s: use one without slashes", m.Name, in))
		case m.Tree == nil:
			err = errors.Join(err, checkRoot(m.Path))
		}
	}
	if len(mounts) == 0 {
		err = errors.New("folder.OpenMounts: there are no sources: give one at least")
	}
	return all, err
}
