//go:build linux

// Package failingdisk is a file system for tests whose reads fail at random, or hang. It must run in a
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
// once it is mounted. Each line of in is the share of reads that fail from then on, with EIO, or "SHARE ERRNO" for reads,
// lookups and listings that fail with another error; if ERRNO is Hang, reads end when the next line comes. Serve
// then empties the page cache of the files and writes another line to out.
func Serve(source, mountpoint string, in io.Reader, out io.Writer) error {
	d := &disk{source: source}
	d.hang.Store(newHang())
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
		share, errno := 0.0, 0
		if n, err := fmt.Sscan(lines.Text(), &share, &errno); n == 0 {
			return err
		}
		set := func(share float64) {
			d.errno.Store(int64(errno))
			d.share.Store(int64(share * scale))
		}
		if errno == Hang {
			set(0) // the kernel waits for reads that hang, before it empties the cache
		} else {
			set(share)
		}
		close(*d.hang.Swap(newHang()))
		for _, f := range d.files {
			_ = f.NotifyContent(0, 0) // ENOENT where nothing is cached
		}
		set(share)
		if _, err := fmt.Fprintln(out, "set"); err != nil {
			return err
		}
	}
	return lines.Err()
}

const scale = 1 << 20

// Hang makes Serve answer when the next line comes.
const Hang = -1

func newHang() *chan struct{} {
	c := make(chan struct{})
	return &c
}

// disk is what all files share.
type disk struct {
	source string
	share  atomic.Int64 // of reads that fail, times scale
	errno  atomic.Int64 // with which; 0 is EIO for reads alone
	hang   atomic.Pointer[chan struct{}]
	files  []*file
}

// fails returns the error of a call now. isRead says that it reads bytes of a file.
func (d *disk) fails(ctx context.Context, isRead bool) syscall.Errno {
	hang, errno := *d.hang.Load(), d.errno.Load()
	switch {
	case rand.Int64N(scale) >= d.share.Load(), errno <= 0 && !isRead:
		return 0
	case errno == 0:
		return syscall.EIO
	case errno != Hang:
		return syscall.Errno(errno)
	}
	select {
	case <-hang:
		return 0
	case <-ctx.Done():
		return syscall.EINTR
	}
}

// dir is a folder below the root.
type dir struct {
	fs.Inode
	disk *disk
}

var (
	_ fs.NodeLookuper  = (*dir)(nil)
	_ fs.NodeOpendirer = (*dir)(nil)
)

// Lookup finds a file or folder, or fails at random.
func (d *dir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := d.disk.fails(ctx, false); errno != 0 {
		return nil, errno
	}
	child := d.GetChild(name)
	if child == nil {
		return nil, syscall.ENOENT
	}
	if f, ok := child.Operations().(*file); ok {
		return child, f.stat(&out.Attr)
	}
	return child, 0
}

// Opendir opens the folder, or fails at random.
func (d *dir) Opendir(ctx context.Context) syscall.Errno { return d.disk.fails(ctx, false) }

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
		folders, name := filepath.Split(rel)
		for _, part := range strings.FieldsFunc(folders, func(c rune) bool { return c == filepath.Separator }) {
			child := parent.GetChild(part)
			if child == nil {
				child = parent.NewPersistentInode(ctx, &dir{disk: r.disk}, fs.StableAttr{Mode: syscall.S_IFDIR})
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
	return f.stat(&out.Attr)
}

func (f *file) stat(out *fuse.Attr) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Stat(f.path, &st); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(&st)
	return 0
}

// Open keeps the page cache of the file.
func (f *file) Open(ctx context.Context, _ uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, f.disk.fails(ctx, false)
}

// Read reads from the source file or fails at random.
func (f *file) Read(ctx context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if errno := f.disk.fails(ctx, true); errno != 0 {
		return nil, errno
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
