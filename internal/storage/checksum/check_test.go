package checksum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
)

// failing is a file of which a disk cannot read the bytes from bad on.
type failing struct {
	content []byte
	bad     int64
	with    unix.Errno
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, f.content[off:])
	if off+int64(n) > f.bad {
		return int(max(0, f.bad-off)), f.with
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func TestABlockThatTheDiskCannotReadIsDamage(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcde\n"), BlockSize/16)
	sum := crc32.Checksum(content, Castagnoli)
	for bad, want := range map[int64]string{
		BlockSize: "", 0: "byte 0 cannot be read: input/output error", readSize + 5: "byte 262149 cannot be read: input/output error",
	} {
		if got, err := checkBlock(failing{content, bad, unix.EIO}, 0, make([]byte, BlockSize), sum); got != want || err != nil {
			t.Errorf("bad from byte %d: %q %v, want %q", bad, got, err, want)
		}
	}
	if got, err := checkBlock(bytes.NewReader(content[:100]), 0, make([]byte, BlockSize), sum); got != "the file ends before the block does" || err != nil {
		t.Errorf("a short file: %q %v", got, err)
	}
}

// A mount that is gone says nothing about the bytes: a repair must not rewrite them.
func TestAMountThatIsGoneIsNoDamage(t *testing.T) {
	content := make([]byte, BlockSize)
	for _, errno := range []unix.Errno{unix.ENOTCONN, unix.ESTALE, unix.ETIMEDOUT, unix.EACCES} {
		if got, err := checkBlock(failing{content, readSize, errno}, 0, make([]byte, BlockSize), 0); got != "" || !errors.Is(err, errno) {
			t.Errorf("%v: %q %v", errno, got, err)
		}
	}
}

func TestCheckReportsEveryDamageOnce(t *testing.T) {
	dir := t.TempDir()
	content := make([]byte, 18*BlockSize+17) // two spans
	for i := range content {
		content[i] = byte(i * i >> 9)
	}
	var sums Checksums
	for _, name := range []string{"whole", "flipped", "cut", "long", "gone"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		fs, err := OfFile(file, name, -1)
		if err != nil {
			t.Fatal(err)
		}
		if err := fs.Verify(content); err != nil {
			t.Error(err)
		}
		sums = append(sums, fs)
	}
	bits := []int64{0, 17*BlockSize + 5, int64(len(content)) - 1}
	for _, at := range bits {
		content[at] ^= 16
	}
	if err := os.WriteFile(filepath.Join(dir, "flipped"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := sums[1].Verify(content); !errors.Is(err, formats.ErrDamaged) {
		t.Errorf("Verify: %v", err)
	}
	if err := errors.Join(sums[1].verifyRange(content, BlockSize, 16*BlockSize), sums[1].verifyRange(content, 5, 0)); err != nil {
		t.Error(err)
	}
	for _, r := range [][2]int64{{3, 1}, {16 * BlockSize, BlockSize + 1}, {-1, 1}, {0, int64(len(content)) + 1}} {
		if err := sums[1].verifyRange(content, r[0], r[1]); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("verifyRange %v: %v", r, err)
		}
	}
	err := errors.Join(
		os.Truncate(filepath.Join(dir, "cut"), 3*BlockSize+1), os.Truncate(filepath.Join(dir, "long"), int64(len(content))+1),
		os.Remove(filepath.Join(dir, "gone")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 4} {
		got := map[string]bool{}
		if err := sums.Check(context.Background(), dir, 0, formats.Portion{}, workers, func(d formats.Damage) {
			got[fmt.Sprint(d.File, " ", d.Offset/BlockSize, " ", d.Cause)] = true
		}); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"flipped 0 the checksum differs", "flipped 17 the checksum differs", "flipped 18 the checksum differs",
			"cut 3 the file has 3145729 bytes, but 18874385 were written", "cut 3 the file ends before the block does",
			"long 18 the file has 18874386 bytes, but 18874385 were written", "gone 0 the file is missing",
		}
		if len(got) != len(want) {
			t.Errorf("%d workers: %v", workers, got)
		}
		for _, w := range want {
			if !got[w] {
				t.Errorf("%d workers: not reported: %s in %v", workers, w, got)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := sums.Check(ctx, dir, 0, formats.Portion{}, 2, func(formats.Damage) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
