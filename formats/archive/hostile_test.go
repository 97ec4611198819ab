package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

const good = "a/good.jpg" // a member that is whole in every archive

// refusals returns why members are refused: by the path that is listed, or that Stat refuses.
func refusals(f *FS) map[string]string {
	all := refusedBy(f)
	for i := range f.index.entries {
		if e := &f.index.entries[i]; e.refusal != "" {
			all[e.path] = e.refusal
		}
	}
	return all
}

// refusedBy returns the causes of what is listed as refused, by path.
func refusedBy(f interface{ Refused() []formats.Skip }) map[string]string {
	all := map[string]string{}
	for _, r := range f.Refused() {
		all[r.Path] = r.Cause
	}
	return all
}

// check opens an archive, of which good must be readable, and compares what is refused.
func check(t *testing.T, name string, data []byte, want map[string]string) {
	t.Helper()
	f := open(t, name, data)
	got := refusals(f)
	for path, why := range want {
		if !strings.Contains(got[path], why) || got[path] == "" {
			t.Errorf("%s: %q is refused with %q, want %q", name, path, got[path], why)
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("%s: refused too: %q", name, got)
	}
	if b, err := f.ReadInto(good, nil); err != nil || string(b) != "good" {
		t.Errorf("%s: the good member: %q, %v", name, b, err)
	}
}

// kinds calls f with a tar, plain and compressed.
func kinds(t *testing.T, plain []byte, f func(name string, data []byte)) {
	t.Helper()
	f("x.tar", plain)
	f("x.tar.gz", gzipped(t, plain))
	f("x.tar.zst", zstded(t, plain))
}

func TestHostileTar(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(h tar.Header, data string) {
		h.Size, h.Mode = int64(len(data)), 0o644
		must(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, data)
		must(t, err)
	}
	add(tar.Header{Name: good}, "good")
	add(tar.Header{Name: "../up.jpg"}, "x")
	add(tar.Header{Name: "a/../../up2.jpg"}, "x")
	add(tar.Header{Name: "/abs.jpg"}, "x")
	add(tar.Header{Name: "a/\xff.jpg", Format: tar.FormatGNU}, "x")
	add(tar.Header{Name: "twice.jpg"}, "old")
	add(tar.Header{Name: "twice.jpg"}, "new")
	add(tar.Header{Name: strings.Repeat("long/", 60) + "1.jpg", Format: tar.FormatPAX}, "x")
	add(tar.Header{Name: strings.Repeat("gnu/", 60) + "1.jpg", Format: tar.FormatGNU}, "x")
	add(tar.Header{Name: strings.Repeat("d/", 3000) + "1.jpg", Format: tar.FormatPAX}, "x")
	add(tar.Header{Name: "hard.jpg", Typeflag: tar.TypeLink, Linkname: good}, "")
	add(tar.Header{Name: "a/soft.jpg", Typeflag: tar.TypeSymlink, Linkname: "../a/good.jpg"}, "")
	add(tar.Header{Name: "chain.jpg", Typeflag: tar.TypeSymlink, Linkname: "a/soft.jpg"}, "")
	add(tar.Header{Name: "loop1.jpg", Typeflag: tar.TypeSymlink, Linkname: "loop2.jpg"}, "")
	add(tar.Header{Name: "loop2.jpg", Typeflag: tar.TypeSymlink, Linkname: "loop1.jpg"}, "")
	add(tar.Header{Name: "out.jpg", Typeflag: tar.TypeSymlink, Linkname: "../../etc/passwd"}, "")
	add(tar.Header{Name: "etc.jpg", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, "")
	add(tar.Header{Name: "hardout.jpg", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, "")
	add(tar.Header{Name: "early.jpg", Typeflag: tar.TypeLink, Linkname: "later.jpg"}, "")
	add(tar.Header{Name: "later.jpg"}, "old")
	add(tar.Header{Name: "self.jpg"}, "self")
	add(tar.Header{Name: "self.jpg", Typeflag: tar.TypeLink, Linkname: "self.jpg"}, "")
	add(tar.Header{Name: "before.jpg", Typeflag: tar.TypeLink, Linkname: "later.jpg"}, "")
	add(tar.Header{Name: "before2.jpg", Typeflag: tar.TypeLink, Linkname: "before.jpg"}, "")
	add(tar.Header{Name: "later.jpg"}, "new")
	add(tar.Header{Name: "link00.jpg", Typeflag: tar.TypeSymlink, Linkname: "later.jpg"}, "")
	for i := range 40 {
		add(tar.Header{Name: fmt.Sprintf("link%02d.jpg", i+1), Typeflag: tar.TypeSymlink, Linkname: fmt.Sprintf("link%02d.jpg", i)}, "")
	}
	add(tar.Header{Name: "nowhere.jpg", Typeflag: tar.TypeLink, Linkname: "a/none.jpg"}, "")
	add(tar.Header{Name: "folder", Typeflag: tar.TypeSymlink, Linkname: "a"}, "")
	add(tar.Header{Name: "null.jpg", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}, "")
	add(tar.Header{Name: "pipe.jpg", Typeflag: tar.TypeFifo}, "")
	add(tar.Header{Name: "inner.zip"}, "PK")
	add(tar.Header{Name: "none.tar"}, "this is no tar")
	add(tar.Header{Name: "is.jpg"}, "a file and a folder")
	add(tar.Header{Name: "is.jpg/x.jpg"}, "x")
	must(t, w.Close())
	kinds(t, b.Bytes(), func(name string, data []byte) {
		check(t, name, data, map[string]string{
			"../up.jpg": `".."`, "a/../../up2.jpg": `".."`, "/abs.jpg": "absolute", "a/\xff.jpg": "not UTF-8",
			"twice.jpg": "again", "later.jpg": "again", "early.jpg": "before it", "link40.jpg": "more than 40 links", shorten(strings.Repeat("d/", 3000)): "too long",
			"loop1.jpg": "without end", "loop2.jpg": "without end", "out.jpg": "out of the archive", "etc.jpg": "out of the archive",
			"hardout.jpg": "out of the archive", "nowhere.jpg": "does not have", "folder/": "a link to a folder", "folder": "a link to a folder",
			"null.jpg": "not a regular", "pipe.jpg": "not a regular", "inner.zip/": "only a .tar in a tar", "none.tar/": "is none",
			"is.jpg": "also has a folder",
		})
	})
	f := open(t, "x.tar", b.Bytes())
	for name, want := range map[string]string{
		"twice.jpg": "new", "self.jpg": "self", "before.jpg": "old", "before2.jpg": "old", "later.jpg": "new", "link39.jpg": "new", "hard.jpg": "good", "a/soft.jpg": "good", "chain.jpg": "good",
		strings.Repeat("long/", 60) + "1.jpg": "x", strings.Repeat("gnu/", 60) + "1.jpg": "x",
	} {
		if got, err := f.ReadInto(name, nil); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A sparse member claims holes of any size.
func TestSparseTar(t *testing.T) {
	pax := "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n27 GNU.sparse.name=big.jpg\n34 GNU.sparse.realsize=8589934592\n"
	sparse := makeTar(t, file{"PaxHeaders/big", []byte(pax)}, file{"GNUSparseFile/big.jpg", []byte("1\n0\n1\n" + strings.Repeat("\x00", 506) + "x")})
	sparse[156] = tar.TypeXHeader
	checksum(sparse[:512])
	old := makeTar(t, file{"old.jpg", []byte("x")}) // GNU's own kind, of a byte and a hole
	old[156] = tar.TypeGNUSparse
	copy(old[257:], "ustar  \x00")
	copy(old[386:], "00000000000\x0000000000001\x00")
	copy(old[483:], "00000000001\x00")
	checksum(old[:512])
	whole := slices.Concat(makeTar(t, file{good, []byte("good")})[:1024], old[:1024], sparse)
	kinds(t, whole, func(name string, data []byte) {
		check(t, name, data, map[string]string{"big.jpg": "sparse", "old.jpg": "sparse"})
	})
}

// checksum sets that of a tar's header.
func checksum(h []byte) {
	copy(h[148:156], "        ")
	sum := 0
	for _, c := range h[:512] {
		sum += int(c)
	}
	copy(h[148:], []byte{byte('0' + sum>>15&7), byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7), byte('0' + sum>>3&7), byte('0' + sum&7), 0, ' '})
}

// What is wrong with the whole is an error that names the file and the cause.
func TestDamagedWhole(t *testing.T) {
	plain := makeTar(t, file{good, []byte("good")}, file{"b.jpg", noise(5000, 1)}, file{"c.jpg", noise(5000, 2)})
	zipped := makeZip(t, file{good, []byte("good")}, file{"b.jpg", noise(5000, 1)})
	middle := bytes.Clone(plain)
	copy(middle[1024:], "no header at all")
	huge := bytes.Clone(plain)
	copy(huge[1024+124:], "17777777777\x00") // 2 GiB
	checksum(huge[1024:])
	endless := bytes.Clone(plain)
	copy(endless[1024+124:], "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff")
	checksum(endless[1024:])
	tooLong := bytes.Clone(plain)
	tooLong[1024+156] = tar.TypeXHeader
	copy(tooLong[1024+124:], "00010000000\x00") // 2 MiB of PAX records
	checksum(tooLong[1024:])
	packed, flipped := gzipped(t, plain), gzipped(t, plain)
	flipped[len(flipped)-5] ^= 1
	inner := makeTar(t, file{"in.tar", plain[:len(plain)-5000]})
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"truncated.tar": {plain[:7000], "truncated"}, "truncated2.tar": {plain[:1024+512+5120+512+100], "truncated"},
		"endless.tgz": {gzipped(t, endless), "damaged: the member at byte 1536 says"}, "long.tgz": {gzipped(t, tooLong, make([]byte, 3<<20)), "damaged: no member begins at byte 1024"},
		"window.tar.zst": {[]byte("\x28\xb5\x2f\xfd\x00\xa8"), "a larger window than 128 MiB: decompress it with zstd -d --long=31"},
		"middle.tar":     {middle, "damaged"}, "huge.tar": {huge, "truncated"}, "inner.tar": {inner, "in.tar"},
		"truncated.tgz": {packed[:len(packed)-20], "unexpected EOF"}, "cut.tgz": {packed[:len(packed)/2], "unexpected EOF"},
		"flipped.tgz": {flipped, "checksum"}, "rubbish.tgz": {append(packed, "rubbish behind it"...), "not gzip"}, "empty.tgz": {nil, "it is empty"}, "empty.tar": {nil, "it is empty"},
		"page.tar.zst":      {[]byte("\n<!DOCTYPE html>"), "begins as HTML"},
		"truncated.tar.zst": {zstded(t, plain)[:8000], "unexpected EOF"}, "text.tgz": {[]byte(strings.Repeat("text ", 200)), "begins as text"},
		"binary.tgz":    {[]byte("\x1f\x8c\x00"), "it is not gzip"},
		"truncated.zip": {zipped[:len(zipped)-30], "not a zip"}, "text.zip": {[]byte(strings.Repeat("text", 200)), "not a zip"}, "empty.zip": {nil, "not a zip: it is empty"},
		"x.tar.bz2": {[]byte("BZh91AY&SY"), "bunzip2"}, "x.tar.xz": {[]byte("\xfd7zXZ\x00"), "unxz"},
	} {
		_, err := Open(context.Background(), write(t, name, c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	f := open(t, "noend.tar", plain[:len(plain)-1024])
	if got := refusals(f); !strings.Contains(got["noend.tar/"], "no end mark") {
		t.Errorf("a tar without an end: %q", got)
	}
}

// zipMemberAt is a zip of which the directory may say anything.
type zipMemberAt struct {
	name         string
	data         []byte // as it is stored
	method       uint16
	flags        uint16
	crc          uint32
	size, packed int64 // -1 for those of data
	at           int   // offset of another member; -1 for its own
	mode         uint32
	host         byte
	local        string // its name before its bytes; "" for name
	extra        []byte // in the directory
}

func forgedZip(members ...zipMemberAt) []byte {
	var b, dir []byte
	le := binary.LittleEndian
	var starts []int
	for _, m := range members {
		starts = append(starts, len(b))
		size, packed, at := uint32(len(m.data)), uint32(len(m.data)), len(b)
		if m.size >= 0 {
			size = uint32(m.size)
		}
		if m.packed >= 0 {
			packed = uint32(m.packed)
		}
		if m.at >= 0 {
			at = starts[m.at]
		} else {
			b = append(b, zipHeader...)
			b = le.AppendUint16(le.AppendUint16(le.AppendUint16(b, 20), m.flags), m.method)
			b = le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(b, 0), m.crc), packed), size)
			local := cmp.Or(m.local, m.name)
			b = append(le.AppendUint16(le.AppendUint16(b, uint16(len(local))), 0), local...)
			b = append(b, m.data...)
		}
		dir = append(dir, zipMember...)
		dir = append(dir, 20, m.host)
		dir = le.AppendUint16(le.AppendUint16(le.AppendUint16(dir, 20), m.flags), m.method)
		dir = le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(dir, 0), m.crc), packed), size)
		dir = le.AppendUint16(dir, uint16(len(m.name)))
		dir = append(le.AppendUint16(dir, uint16(len(m.extra))), make([]byte, 6)...)
		dir = le.AppendUint32(le.AppendUint32(dir, m.mode<<16), uint32(at))
		dir = append(append(dir, m.name...), m.extra...)
	}
	end := append([]byte(zipEnd), 0, 0, 0, 0)
	end = le.AppendUint16(le.AppendUint16(end, uint16(len(members))), uint16(len(members)))
	end = le.AppendUint16(le.AppendUint32(le.AppendUint32(end, uint32(len(dir))), uint32(len(b))), 0)
	return append(append(b, dir...), end...)
}

func TestHostileZip(t *testing.T) {
	x := zipMemberAt{data: []byte("x"), crc: 0x8cdc1683, size: -1, packed: -1, at: -1, host: 3}
	named := func(name string, change func(*zipMemberAt)) zipMemberAt {
		m := x
		m.name = name
		if change != nil {
			change(&m)
		}
		return m
	}
	data := forgedZip(
		named(good, func(m *zipMemberAt) { m.data, m.crc = []byte("good"), 0x5f9e5c2a }),
		named("../up.jpg", nil), named("/abs.jpg", nil), named("a/\xff.jpg", func(m *zipMemberAt) { m.flags = zipUTF8 }), named(`..\back.jpg`, func(m *zipMemberAt) { m.host = 0 }),
		named("twice.jpg", nil), named("twice.jpg", nil),
		named("secret.jpg", func(m *zipMemberAt) { m.flags = 1 }), named("lzma.jpg", func(m *zipMemberAt) { m.method = 14 }),
		named("link.jpg", func(m *zipMemberAt) { m.mode = 0o120777 }), named("dev.jpg", func(m *zipMemberAt) { m.mode = 0o020666 }),
		named("sizes.jpg", func(m *zipMemberAt) { m.size = 5 }), named("2gb.jpg", func(m *zipMemberAt) { m.method, m.size = 8, 1<<31 }),
		named("behind.jpg", func(m *zipMemberAt) { m.packed, m.size = 1<<30, 1<<30 }), named("inner.tar", nil),
		named("one.jpg", nil), named("same.jpg", func(m *zipMemberAt) { m.at = 15 }),
	)
	// The directory's checksums are of their data, but for that of a member which is read.
	f, err := Open(context.Background(), write(t, "x.zip", data))
	must(t, err)
	defer f.Close()
	got := refusals(f)
	for path, why := range map[string]string{
		"../up.jpg": `".."`, "/abs.jpg": "absolute", "a/\xff.jpg": "UTF-8", `../back.jpg`: `".."`, "twice.jpg": "again", "secret.jpg": "encrypted",
		"lzma.jpg": "LZMA", "link.jpg": "a link", "dev.jpg": "not a regular", "sizes.jpg": "sizes are wrong", "2gb.jpg": "sizes are wrong",
		"behind.jpg": "outside of the zip", "inner.tar/": "only a .tar in a tar", "one.jpg": "overlap", "same.jpg": "overlap",
	} {
		if !strings.Contains(got[path], why) || got[path] == "" {
			t.Errorf("%q is refused with %q, want %q", path, got[path], why)
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("refused too: %q", got)
	}
	if b, err := f.ReadInto("twice.jpg", nil); err != nil || string(b) != "x" {
		t.Errorf("the last of two: %q, %v", b, err)
	}
	if _, err := f.ReadInto(good, nil); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a wrong checksum: %v", err)
	}
}

// The bytes of a member are other than the directory says.
func TestZipSizes(t *testing.T) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	m, err := w.Create("a.jpg")
	must(t, err)
	_, err = m.Write(bytes.Repeat([]byte("a"), 1000))
	must(t, err)
	must(t, w.Close())
	for _, size := range []uint32{999, 1001, 0} {
		b := bytes.Clone(packed.Bytes())
		binary.LittleEndian.PutUint32(b[bytes.LastIndex(b, []byte(zipMember))+24:], size)
		f := open(t, "x.zip", b)
		if _, err := f.ReadInto("a.jpg", nil); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// Bombs are refused in bounded memory: a member by its ratio, an archive as soon as it is clear.
func TestBombs(t *testing.T) {
	zeros := func(w io.WriteCloser, n int64) {
		block := make([]byte, 1<<20)
		for ; n > 0; n -= int64(len(block)) {
			_, err := w.Write(block[:min(n, int64(len(block)))])
			must(t, err)
		}
		must(t, w.Close())
	}
	header := func(name string, size int64) []byte {
		h := bytes.Clone(makeTar(t, file{good, []byte("good")})[:1024:1024])
		one := makeTar(t, file{name, nil})[:512]
		copy(one[124:], []byte("0000000000"))
		for i, s := 10, size; i >= 0; i, s = i-1, s>>3 {
			one[124+i] = byte('0' + s&7)
		}
		checksum(one)
		return append(h, one...)
	}
	const dense = freeSize + 1<<20
	var b, many bytes.Buffer
	var start int
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	must(t, err)
	_, err = z.Write(header("bomb.jpg", dense/512*512))
	must(t, err)
	zeros(z, dense/512*512+1024)
	check(t, "x.tgz", b.Bytes(), map[string]string{"bomb.jpg": "no image is"})
	z, err = gzip.NewWriterLevel(&many, gzip.BestSpeed)
	must(t, err)
	_, err = z.Write(header("bomb.jpg", math.MaxInt32/512*512))
	must(t, err)
	must(t, z.Flush())
	for range 3 { // from then on a block refers only to zeros
		start = many.Len()
		_, err = z.Write(make([]byte, 1<<20))
		must(t, err)
		must(t, z.Flush())
	}
	many.Write(bytes.Repeat(bytes.Clone(many.Bytes()[start:]), freeExpansion>>20+64))
	if _, err := Open(context.Background(), write(t, "y.tgz", many.Bytes())); err == nil || !strings.Contains(err.Error(), "more than 100 times") {
		t.Errorf("a bomb: %v", err)
	}
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	m, err := w.Create("bomb.jpg")
	must(t, err)
	zeros(struct {
		io.Writer
		io.Closer
	}{m, io.NopCloser(nil)}, dense)
	m, err = w.Create(good)
	must(t, err)
	_, err = m.Write([]byte("good"))
	must(t, err)
	must(t, w.Close())
	check(t, "x.zip", zipped.Bytes(), map[string]string{"bomb.jpg": "no image is"})
}

// Links count as the files that they lead to: a small archive is no dataset of gigabytes.
func TestManyLinks(t *testing.T) {
	for name, c := range map[string]struct {
		kind byte
		n    int
		ok   bool
	}{
		"some":           {tar.TypeLink, 900, true},
		"hard links":     {tar.TypeLink, 1100, false},
		"symbolic links": {tar.TypeSymlink, 1100, false},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		must(t, w.WriteHeader(&tar.Header{Name: "a/0.jpg", Mode: 0o644, Size: 1 << 20}))
		_, err := w.Write(make([]byte, 1<<20))
		must(t, err)
		for i := range c.n {
			must(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("a/%d.jpg", i+1), Typeflag: c.kind, Linkname: map[byte]string{tar.TypeLink: "a/0.jpg", tar.TypeSymlink: "0.jpg"}[c.kind]}))
		}
		must(t, w.Close())
		for _, data := range [][]byte{b.Bytes(), gzipped(t, b.Bytes())} {
			f, err := Open(context.Background(), write(t, "x.tar", data))
			if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "links included") {
				t.Errorf("%s: %v", name, err)
			}
			if f != nil {
				must(t, f.Close())
			}
		}
	}
}

// A gzip file can have a member in 20 bytes. Each costs little, too.
func TestManyGzipMembers(t *testing.T) {
	const n = 20_000
	b := append(gzipped(t, makeTar(t, file{good, []byte("good")})), bytes.Repeat(gzipped(t, nil), n)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	check(t, "x.tgz", b, nil)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 400<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// FuzzOpen: any bytes give an archive, of which each member can be asked for, or an error.
func FuzzOpen(f *testing.F) {
	plain := makeTar(f, file{"a/1.jpg", []byte("one")}, file{"b.tar", makeTar(f, file{"2.jpg", []byte("two")})})
	for _, seed := range [][]byte{plain, makeZip(f, file{"a/1.jpg", []byte("one")}, file{"2.jpg", nil}), gzipped(f, plain), zstded(f, plain)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := Open(context.Background(), write(t, "x.zip", data))
		if err != nil {
			return
		}
		defer files.Close()
		for i := range files.index.entries {
			if e := &files.index.entries[i]; e.size < 1<<20 {
				_, _ = files.ReadInto(e.path, nil)
			}
		}
	})
}
