package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// archive/zip is not used: it takes 400 bytes of memory for a member, and does not tell where members begin, without
// which those that share their bytes cannot be found.

const (
	zipHeader       = "PK\x03\x04"
	zipMember       = "PK\x01\x02"
	zipEnd          = "PK\x05\x06"
	zipEnd64        = "PK\x06\x06"
	zipLocator64    = "PK\x06\x07"
	zipHeaderSize   = 30
	zipMemberSize   = 46
	zipEndSize      = 22
	zipEnd64Size    = 56
	zipLocatorSize  = 20
	maxZipComment   = 0xffff
	zipEncrypted    = 1<<0 | 1<<6 | 1<<13
	methodStore     = 0
	methodDeflate   = 8
	methodZstd      = 93
	maxDeflateRatio = 1032 // of any deflate data
)

var errNoZip = errors.New("it is not a zip, or is truncated: it has no directory at its end. Copy or download it again")

// zipDirectory is where a zip's list of members is.
type zipDirectory struct {
	offset, length int64
	records        uint64
	base           int64 // of all offsets in the zip: the length of a program before it
}

// scanZip lists the members of a zip.
func scanZip(ctx context.Context, file *os.File, size int64, x *index) error {
	d, err := findZipDirectory(file, size)
	if err != nil {
		return err
	}
	z := &zipScan{index: x, ctx: ctx, zipDirectory: d}
	if err := z.list(file); err != nil {
		return err
	}
	z.refuseOverlaps()
	z.sort()
	return z.finish()
}

// findZipDirectory finds the record at the end of the zip.
func findZipDirectory(file *os.File, size int64) (*zipDirectory, error) {
	tail := make([]byte, min(size, zipEndSize+maxZipComment))
	if err := readAt(file, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	var at int
	for at = bytes.LastIndex(tail, []byte(zipEnd)); at >= 0; at = bytes.LastIndex(tail[:at], []byte(zipEnd)) {
		if b := tail[at:]; len(b) >= zipEndSize && int(le16(b[20:])) <= len(b)-zipEndSize {
			break
		}
	}
	if at < 0 {
		return nil, errNoZip
	}
	b, end := tail[at:], size-int64(len(tail)-at)
	if disk := le16(b[4:]); disk != 0 && disk != 0xffff {
		return nil, errors.New("it is one of several volumes: join them first, for instance with zip -s 0")
	}
	d := &zipDirectory{records: uint64(le16(b[10:])), length: int64(le32(b[12:])), offset: int64(le32(b[16:]))}
	if d.records == 0xffff || d.length == 0xffffffff || d.offset == 0xffffffff {
		var err error
		if end, err = d.read64(file, end); err != nil {
			return nil, err
		}
	}
	if d.length < 0 || d.offset < 0 || d.length > end || d.offset > end-d.length {
		return nil, errors.New("its directory is damaged: it lies outside of the file")
	}
	d.base = end - d.length - d.offset
	d.offset += d.base
	return d, nil
}

// read64 reads the record of a large zip, if there is one, and returns where it begins.
func (d *zipDirectory) read64(file *os.File, end int64) (int64, error) {
	b := make([]byte, zipEnd64Size)
	if end < zipLocatorSize+zipEnd64Size {
		return end, nil
	}
	if err := readAt(file, b[:zipLocatorSize], end-zipLocatorSize); err != nil {
		return end, err
	}
	if string(b[:4]) != zipLocator64 {
		return end, nil
	}
	// Before the locator, or, if the record has additional fields, where the locator says.
	for _, at := range []int64{end - zipLocatorSize - zipEnd64Size, int64(le64(b[8:]))} {
		if at < 0 || at > end-zipLocatorSize-zipEnd64Size {
			continue
		}
		if err := readAt(file, b, at); err != nil {
			return end, err
		}
		if string(b[:4]) == zipEnd64 {
			d.records, d.length, d.offset = le64(b[32:]), int64(le64(b[40:])), int64(le64(b[48:]))
			return at, nil
		}
	}
	return end, errors.New("its directory is damaged: the record of a large zip is not where it should be")
}

func le16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// zipScan lists the members of a zip.
type zipScan struct {
	*index
	*zipDirectory
	ctx context.Context
}

func (z *zipScan) list(file *os.File) error {
	in := bufio.NewReaderSize(io.NewSectionReader(file, z.offset, z.length), 256<<10)
	var records uint64
	for left := z.length; left >= zipMemberSize; records++ {
		if records%1024 == 0 && z.ctx.Err() != nil {
			return z.ctx.Err()
		}
		head, err := in.Peek(zipMemberSize)
		if err != nil {
			return noEOF(err)
		}
		if string(head[:4]) != zipMember {
			break
		}
		n := zipMemberSize + int(le16(head[28:])) + int(le16(head[30:])) + int(le16(head[32:]))
		if int64(n) > left {
			return errors.New("its directory is damaged: the last entry is not whole")
		}
		record, err := in.Peek(n)
		if err != nil {
			return noEOF(err)
		}
		if err := z.member(record); err != nil {
			return err
		}
		_, _ = in.Discard(n) // they are in the buffer
		left -= int64(n)
	}
	if uint16(records) != uint16(z.records) {
		return fmt.Errorf("its directory is damaged: it has %d members and says %d", records, z.records)
	}
	return nil
}

// member adds the member of a record of the directory.
func (z *zipScan) member(b []byte) error {
	e := entry{
		method: le16(b[10:]), crc: le32(b[16:]), packed: int64(le32(b[20:])), size: int64(le32(b[24:])), offset: int64(le32(b[42:])),
	}
	host, flags, mode := b[5], le16(b[8:]), le32(b[38:])>>16
	raw := string(b[zipMemberSize:][:le16(b[28:])])
	e.rawName = crc32.ChecksumIEEE([]byte(raw))
	extra := b[zipMemberSize+len(raw):][:le16(b[30:])]
	unicode, err := e.readExtra(extra)
	if err != nil {
		return z.refuse(raw, err.Error())
	}
	raw, isPage := z.decoded(cmp.Or(unicode, raw), flags)
	windows := host == 0 || host == 10 || host == 11 || host == 14 // where no name has a backslash
	if windows && (!isPage || !strings.Contains(raw, "/")) {       // in some code pages a letter ends in that byte
		raw = strings.ReplaceAll(raw, `\`, "/")
	}
	name, why := cleanName(raw)
	switch {
	case why != "":
		return z.refuse(raw, why)
	case name == "":
		return nil
	case strings.HasSuffix(raw, "/"):
		return z.mkdir(name)
	case isArchiveName(name) || strings.HasSuffix(strings.ToLower(name), ".tar"):
		return z.refuse(name+"/", whyPacked)
	}
	e.offset += z.base
	return z.add(name, e, z.whyNot(&e, flags, mode))
}

// zipUTF8 is the flag of a member whose name is UTF-8.
const zipUTF8 = 1 << 11

// decoded returns a name as UTF-8. One that is not is of code page 437, as the specification of zip says, although programs
// also write those of their own country: then the letters are others, but different names stay different.
func (z *zipScan) decoded(name string, flags uint16) (text string, isPage bool) {
	if utf8.ValidString(name) || flags&zipUTF8 != 0 {
		return name, false
	}
	text, err := charmap.CodePage437.NewDecoder().String(name) // all bytes are letters
	if err != nil {
		return name, false
	}
	if z.decodedNames++; z.decodedName == "" {
		z.decodedName = text
	}
	return text, true
}

// whyNot returns why a member is not read, "" if it is.
func (z *zipScan) whyNot(e *entry, flags uint16, mode uint32) string {
	const kind, regular, link = 0o170000, 0o100000, 0o120000
	switch {
	case flags&zipEncrypted != 0:
		return "it is encrypted: unpack the zip with its password"
	case mode&kind == link:
		return "a link: links in a zip are not followed"
	case mode&kind != 0 && mode&kind != regular:
		return "not a regular file"
	case e.method != methodStore && e.method != methodDeflate && e.method != methodZstd:
		return fmt.Sprintf("compressed by method %d%s, which dsconv does not read: unpack the zip", e.method, methodNames[e.method])
	case e.size < 0 || e.packed < 0 || e.offset < 0 || e.packed > z.offset || e.offset > z.offset-e.packed-zipHeaderSize:
		return "its bytes lie outside of the zip: damaged"
	case e.method == methodStore && e.size != e.packed, e.method == methodDeflate && e.size/maxDeflateRatio > e.packed:
		return fmt.Sprintf("%d bytes cannot be its %d compressed bytes: its sizes are wrong", e.size, e.packed)
	}
	return ""
}

var methodNames = map[uint16]string{9: " (Deflate64)", 12: " (bzip2)", 14: " (LZMA)", 95: " (xz)", 98: " (PPMd)", 99: " (AES)"}

// readExtra reads the sizes of large members, and the name in UTF-8 that Info-ZIP and WinRAR write beside one in a code
// page, unless it belongs to another name.
func (e *entry) readExtra(extra []byte) (unicode string, err error) {
	const large, unicodePath = 1, 0x7075
	for len(extra) >= 4 {
		id, n := le16(extra), int(le16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			break // as other readers do: some writers leave rubbish there
		}
		field := extra[:n]
		extra = extra[n:]
		if id == unicodePath && n > 5 && field[0] == 1 && le32(field[1:]) == e.rawName && utf8.Valid(field[5:]) {
			unicode = string(field[5:])
		}
		if id != large { // it has those that do not fit
			continue
		}
		for _, v := range []*int64{&e.size, &e.packed, &e.offset} {
			if *v != 0xffffffff {
				continue
			}
			if len(field) < 8 {
				return "", errors.New("its sizes are missing in the directory: damaged")
			}
			*v, field = int64(le64(field)), field[8:]
		}
	}
	return unicode, nil
}

// refuseOverlaps refuses members that share bytes, of which small zips make very large ones, and sets where each
// must end.
func (z *zipScan) refuseOverlaps() {
	order := make([]int32, len(z.entries))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(z.entries[a].offset, z.entries[b].offset) })
	var end int64
	var longest *entry // that which ends at end
	for k, i := range order {
		e := &z.entries[i]
		if e.limit = z.offset; k+1 < len(order) {
			e.limit = z.entries[order[k+1]].offset
		}
		if e.offset < 0 || e.packed < 0 || e.packed > z.offset {
			continue // refused already
		}
		if longest != nil && e.offset < end {
			for _, both := range []*entry{e, longest} {
				if both.refusal == "" {
					both.refusal = "its bytes overlap those of another member, as in a zip bomb"
				}
			}
		}
		if last := e.offset + zipHeaderSize + e.packed; longest == nil || last > end {
			end, longest = last, e
		}
	}
}
