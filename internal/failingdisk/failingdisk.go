//go:build linux

// Package failingdisk is a file system for tests whose reads fail at random. It must run in a
// process of its own: a process that reads its own file system through a mapping cannot answer.
package failingdisk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Serve mounts the folder source at mountpoint, read-only, until in ends. It writes a line to out
// once it is mounted. Each line of in is the share of reads that fail from then on, with EIO; Serve
// then empties the page cache of the files and writes another line to out.
func Serve(source, mountpoint string, in io.Reader, out io.Writer) error {
	d := &disk{source: source}
	server, err := fs.Mount(mountpoint, &folder{disk: d}, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "failingdisk", Options: []string{"ro"}},
	})
	if err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	defer func() {
		_ = syscall.Unmount(mountpoint, syscall.MNT_DETACH)
		server.Wait()
	}()
	if _, err := fmt.Fprintln(out, "mounted"); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		share := 0.0
		if _, err := fmt.Sscan(lines.Text(), &share); err != nil {
			return err
		}
		d.share.Store(int64(share * scale))
		for _, f := range d.files {
			_ = f.NotifyContent(0, 0) // ENOENT where nothing is cached
		}
		if _, err := fmt.Fprintln(out, "set"); err != nil {
			return err
		}
	}
	return lines.Err()
}

const scale = 1 << 20

// disk is what all files share.
type disk struct {
	source string
	share  atomic.Int64 // of reads that fail, times scale
	files  []*file
}

// folder is the root. It has all files from the beginning.
type folder struct {
	fs.Inode
	disk *disk
}

var _ fs.NodeOnAdder = (*folder)(nil)

// OnAdd adds the files.
func (r *folder) OnAdd(ctx context.Context) {
	err := filepath.WalkDir(r.disk.source, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(r.disk.source, path)
		if err != nil {
			return err
		}
		parent := &r.Inode
		dir, name := filepath.Split(rel)
		for _, part := range strings.FieldsFunc(dir, func(c rune) bool { return c == filepath.Separator }) {
			child := parent.GetChild(part)
			if child == nil {
				child = parent.NewPersistentInode(ctx, &fs.Inode{}, fs.StableAttr{Mode: syscall.S_IFDIR})
				parent.AddChild(part, child, false)
			}
			parent = child
		}
		f := &file{disk: r.disk, path: path}
		r.disk.files = append(r.disk.files, f)
		parent.AddChild(name, parent.NewPersistentInode(ctx, f, fs.StableAttr{Mode: syscall.S_IFREG}), false)
		return nil
	})
	if err != nil {
		panic(err) // a test's process: its parent sees it
	}
}

// file is a file of the source.
type file struct {
	fs.Inode
	disk *disk
	path string
}

var (
	_ fs.NodeGetattrer = (*file)(nil)
	_ fs.NodeOpener    = (*file)(nil)
	_ fs.NodeReader    = (*file)(nil)
)

// Getattr returns the attributes of the source file.
func (f *file) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Stat(f.path, &st); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(&st)
	return 0
}

// Open keeps the page cache of the file.
func (f *file) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

// Read reads from the source file or fails at random.
func (f *file) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if rand.Int64N(scale) < f.disk.share.Load() {
		return nil, syscall.EIO
	}
	source, err := os.Open(f.path)
	if err != nil {
		return nil, fs.ToErrno(err)
	}
	defer source.Close()
	n, err := source.ReadAt(dest, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fs.ToErrno(err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}
