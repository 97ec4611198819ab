package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// goodImages is how many images of a hostile archive are whole.
const goodImages = 20

// packsWithin packs and describes a source in processes of their own, and returns what the pack said.
func packsWithin(t *testing.T, src string, want int) (said, dst string) {
	t.Helper()
	dst = filepath.Join(t.TempDir(), "out.tar")
	said, code, peak := peakOf(t, "pack", src, dst, "--workers", "3", "--max-skipped", "100%")
	if code != want || peak > hostilePeak {
		t.Errorf("pack: exit code %d, a peak of %d MB: %s", code, peak/1e6, said)
	}
	about, code, infoPeak := peakOf(t, "info", src)
	if code == exitFailed && want != exitFailed || infoPeak > hostilePeak {
		t.Errorf("info: exit code %d, a peak of %d MB: %s", code, infoPeak/1e6, about)
	}
	t.Logf("peaks of %d and %d MB", peak/1e6, infoPeak/1e6)
	return said, dst
}

// isCounted checks that a pack counted all it found, and named each of bad with its cause.
func isCounted(t *testing.T, said, dst string, bad map[string]string) {
	t.Helper()
	counts := fmt.Sprintf("found %d = written %d + skipped %d + failed 0", goodImages+len(bad), goodImages, len(bad))
	if !strings.Contains(said, counts) {
		t.Errorf("not %q: %s", counts, said)
	}
	rows, err := csv.NewReader(bytes.NewReader(read(t, dst+".report.csv"))).ReadAll()
	must(t, err)
	for name, cause := range bad {
		if !slices.ContainsFunc(rows, func(row []string) bool {
			return strings.HasSuffix(row[0], name) && strings.Contains(row[1], cause) && row[2] == "skipped"
		}) {
			t.Errorf("%s is not skipped with %q: %q", name, cause, rows)
		}
	}
}

// tarMembersOf is a tar of the folder src, without an end mark.
func tarMembersOf(t *testing.T, src string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, image := range imagesOf(t, src) {
		name, err := filepath.Rel(src, image)
		must(t, err)
		data := read(t, image)
		must(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}))
		_, err = w.Write(data)
		must(t, err)
	}
	must(t, w.Flush())
	return b.Bytes()
}

// tarMembers is tarMembersOf with members that must not be read.
func tarMembers(t *testing.T, src string) []byte {
	t.Helper()
	b := bytes.NewBuffer(tarMembersOf(t, src))
	w := tar.NewWriter(b)
	add := func(h tar.Header, data []byte) {
		h.Mode, h.Size = 0o644, int64(len(data))
		must(t, w.WriteHeader(&h))
		_, err := w.Write(data)
		must(t, err)
	}
	add(tar.Header{Name: "../up.jpg"}, []byte("x"))
	add(tar.Header{Name: "/absolute.jpg"}, []byte("x"))
	add(tar.Header{Name: "a/link.jpg", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, nil)
	add(tar.Header{Name: "a/hard.jpg", Typeflag: tar.TypeLink, Linkname: "../../etc/passwd"}, nil)
	add(tar.Header{Name: "a/loop.jpg", Typeflag: tar.TypeSymlink, Linkname: "loop.jpg"}, nil)
	must(t, w.Flush())
	return b.Bytes()
}

// tarHeader is that of a member whose size need not be true.
func tarHeader(t *testing.T, name string, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, tar.NewWriter(&b).WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size}))
	return b.Bytes()
}

// store writes a file of parts, and n zeros that take no disk.
func store(t *testing.T, path string, n int64, parts ...[]byte) {
	t.Helper()
	b := slices.Concat(parts...)
	must(t, os.WriteFile(path, b, 0o644))
	must(t, os.Truncate(path, int64(len(b))+n))
}

// packed compresses parts and n zeros.
func packed(t *testing.T, path string, n int64, parts ...[]byte) {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	if strings.HasSuffix(path, ".zst") {
		w, err = zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedFastest))
	} else {
		w, err = gzip.NewWriterLevel(&b, gzip.BestSpeed)
	}
	must(t, err)
	_, err = io.Copy(w, io.MultiReader(bytes.NewReader(slices.Concat(parts...)), io.LimitReader(zeros{}, n)))
	must(t, err)
	must(t, w.Close())
	must(t, os.WriteFile(path, b.Bytes(), 0o644))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// writers are the kinds of tar: each writes parts and n zeros.
var writers = map[string]func(t *testing.T, path string, n int64, parts ...[]byte){"x.tar": store, "x.tar.gz": packed, "x.tar.zst": packed}

// What must not be read of a tar is named and counted, and the rest is packed.
func TestHostileTarsAreCounted(t *testing.T) {
	members := tarMembers(t, samples(t, "20", "32x24"))
	const dense, sparse, end = 65 << 20, 2 << 30, 1024
	bad := map[string]string{
		"../up.jpg": `".."`, "/absolute.jpg": "absolute", "link.jpg": "a link out of the archive", "hard.jpg": "a link out of the archive", "loop.jpg": "without end",
	}
	with := func(name, cause string) map[string]string {
		all := map[string]string{name: cause}
		for k, v := range bad {
			all[k] = v
		}
		return all
	}
	outer := func(size int64) []byte { return tarHeader(t, "images.tar", size) }
	for _, c := range []struct {
		name string
		n    int64
		data [][]byte
		bad  map[string]string
	}{
		{"x.tar", sparse + end, [][]byte{members, tarHeader(t, "a/bomb.jpg", sparse)}, with("bomb.jpg", "too large")},
		{"x.tar", sparse + 2*end, [][]byte{outer(int64(len(members)) + 512 + sparse + end), members, tarHeader(t, "a/bomb.jpg", sparse)}, with("bomb.jpg", "too large")},
		{"x.tar.gz", dense + end, [][]byte{members, tarHeader(t, "a/bomb.jpg", dense)}, with("bomb.jpg", "no image is")},
		{"x.tar.zst", dense + end, [][]byte{members, tarHeader(t, "a/bomb.jpg", dense)}, with("bomb.jpg", "no image is")},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.name)
			writers[c.name](t, path, c.n, c.data...)
			said, dst := packsWithin(t, path, exitSkipped)
			isCounted(t, said, dst, c.bad)
		})
	}
}

// A tar whose members cannot be found is refused by name.
func TestTarsOfWrongSizes(t *testing.T) {
	members := tarMembers(t, samples(t, "20", "32x24"))
	claim := tarHeader(t, "a/claim.jpg", 2<<30)
	for name, write := range writers {
		for what, c := range map[string]struct {
			parts [][]byte
			want  string
		}{
			"2 GB that are not there":          {[][]byte{members, claim}, "truncated"},
			"a size that is too small":         {[][]byte{members, tarHeader(t, "a/small.jpg", 10), bytes.Repeat([]byte("x"), 3000)}, "no member begins at byte"},
			"2 GB that are not there, in it":   {[][]byte{tarHeader(t, "in.tar", int64(len(members))+512), members, claim}, "in.tar"},
			"a tar in it that is not all here": {[][]byte{tarHeader(t, "in.tar", 2<<30), members}, "truncated"},
		} {
			path := filepath.Join(t.TempDir(), name)
			write(t, path, 1024, c.parts...)
			said, _ := packsWithin(t, path, exitFailed)
			if !strings.Contains(said, c.want) || !strings.Contains(said, name) {
				t.Errorf("%s: %s: not %q: %s", name, what, c.want, said)
			}
		}
	}
}

// A file that unpacks to far more than any archive of images is refused by name.
func TestArchiveOfZeros(t *testing.T) {
	if quick() {
		t.Skip("takes seconds; make torture runs it")
	}
	var block bytes.Buffer
	w := gzip.NewWriter(&block)
	_, err := w.Write(make([]byte, 1<<20))
	must(t, err)
	must(t, w.Close())
	path := filepath.Join(t.TempDir(), "x.tar.gz")
	packed(t, path, 0, tarHeader(t, "a/zeros.jpg", 8<<30))
	store(t, path, 0, read(t, path), bytes.Repeat(block.Bytes(), 8<<10))
	if said, _ := packsWithin(t, path, exitFailed); !strings.Contains(said, "more than 100 times") {
		t.Error(said)
	}
}

// Most of a million members without content are no images; all are counted.
func TestMillionMembers(t *testing.T) {
	if quick() {
		t.Skip("takes a minute; make torture runs it")
	}
	dir := t.TempDir()
	src := samples(t, "20", "32x24")
	f, err := os.Create(filepath.Join(dir, "x.zip"))
	must(t, err)
	w := zip.NewWriter(f)
	must(t, w.AddFS(os.DirFS(src)))
	for i := range 1_000_000 {
		_, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%03d/%06d.jpg", i/1000, i)})
		must(t, err)
	}
	must(t, w.Close())
	must(t, f.Close())
	said, _ := packsWithin(t, f.Name(), exitSkipped)
	if want := "found 1000020 = written 20 + skipped 1000000 + failed 0"; !strings.Contains(said, want) {
		t.Errorf("not %q: %.2000s", want, said)
	}
}

// hostileZip is a zip of the folder src and of members that must not be read.
func hostileZip(t *testing.T, src string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	must(t, w.AddFS(os.DirFS(src)))
	raw := func(h zip.FileHeader, packed, size uint64) {
		h.CompressedSize64, h.UncompressedSize64, h.CRC32 = packed, size, 0x8cdc1683
		m, err := w.CreateRaw(&h)
		must(t, err)
		_, err = io.WriteString(m, "x")
		must(t, err)
	}
	raw(zip.FileHeader{Name: "../up.jpg"}, 1, 1)
	raw(zip.FileHeader{Name: "/absolute.jpg"}, 1, 1)
	raw(zip.FileHeader{Name: "a/size.jpg"}, 1, 5)
	raw(zip.FileHeader{Name: "a/claim.jpg", Method: zip.Deflate}, 1, 2<<30)
	raw(zip.FileHeader{Name: "a/behind.jpg"}, 1<<30, 1<<30)
	raw(zip.FileHeader{Name: "a/before.jpg"}, 1, 1)
	raw(zip.FileHeader{Name: "a/overlap.jpg"}, 1, 1)
	link := zip.FileHeader{Name: "a/link.jpg"}
	link.SetMode(os.ModeSymlink | 0o777)
	raw(link, 1, 1)
	bomb, err := w.Create("a/bomb.jpg")
	must(t, err)
	_, err = io.Copy(bomb, io.LimitReader(zeros{}, 65<<20))
	must(t, err)
	must(t, w.Close())
	data := b.Bytes()
	overlap := bytes.LastIndex(data, []byte("a/overlap.jpg")) // in the directory
	before := bytes.LastIndex(data, []byte("a/before.jpg"))
	copy(data[overlap-4:overlap], data[before-4:before]) // where its bytes are
	return data
}

func TestHostileZipsAreCounted(t *testing.T) {
	data := hostileZip(t, samples(t, "20", "32x24"))
	path := filepath.Join(t.TempDir(), "x.zip")
	must(t, os.WriteFile(path, data, 0o644))
	said, dst := packsWithin(t, path, exitSkipped)
	isCounted(t, said, dst, map[string]string{
		"../up.jpg": `".."`, "/absolute.jpg": "absolute", "size.jpg": "sizes are wrong", "claim.jpg": "sizes are wrong", "behind.jpg": "outside of the zip",
		"before.jpg": "overlap", "overlap.jpg": "overlap", "link.jpg": "a link", "bomb.jpg": "no image is",
	})
	directory := bytes.LastIndex(data, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint32(data[directory+16:], 1<<31) // where the directory is
	must(t, os.WriteFile(path, data, 0o644))
	if said, _ := packsWithin(t, path, exitFailed); !regexp.MustCompile(`x\.zip.*(damaged|directory)`).MatchString(said) {
		t.Error(said)
	}
}
