package main

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// slowRead is how long the slow disk takes for each read.
const slowRead = 20 * time.Millisecond

// mountSlow shows the folder source at mountpoint, where each read of a file takes slowRead longer. Nothing stays in the page cache when a file is
// opened again. The function it returns unmounts it.
func mountSlow(source, mountpoint string) (unmount func(), err error) {
	root := &fs.LoopbackRoot{Path: source}
	root.RootNode = &slowNode{LoopbackNode: fs.LoopbackNode{RootData: root}}
	server, err := fs.Mount(mountpoint, root.RootNode, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "slowdisk", Options: []string{"ro"}},
	})
	if err != nil {
		return nil, err
	}
	return func() {
		_ = syscall.Unmount(mountpoint, syscall.MNT_DETACH)
		server.Wait()
	}, nil
}

// slowNode is a file or a folder of the slow disk.
type slowNode struct{ fs.LoopbackNode }

var (
	_ fs.NodeOpener      = (*slowNode)(nil)
	_ fs.NodeWrapChilder = (*slowNode)(nil)
)

// WrapChild makes slow what is inside the folder.
func (n *slowNode) WrapChild(context.Context, fs.InodeEmbedder) fs.InodeEmbedder {
	return &slowNode{LoopbackNode: fs.LoopbackNode{RootData: n.RootData}}
}

// Open opens a file of the source for reading.
func (n *slowNode) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	file, err := os.Open(n.RootData.Path + "/" + n.Path(n.Root()))
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return &slowFile{file: file}, 0, 0
}

// slowFile is an open file of it.
type slowFile struct{ file *os.File }

var (
	_ fs.FileReader   = (*slowFile)(nil)
	_ fs.FileReleaser = (*slowFile)(nil)
)

// Read reads after a while.
func (f *slowFile) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	select {
	case <-time.After(slowRead):
	case <-ctx.Done():
		return nil, syscall.EINTR
	}
	return fuse.ReadResultFd(f.file.Fd(), off, len(dest)), 0
}

// Release closes it.
func (f *slowFile) Release(context.Context) syscall.Errno { return fs.ToErrno(f.file.Close()) }
