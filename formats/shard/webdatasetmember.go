package shard

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// splitName returns the key and the extension of a member, as webdataset's base_plus_ext does: they are
// separated by the first dot of the last element, which may not be its first character.
func splitName(name string) (key, ext string, ok bool) {
	name = strings.TrimPrefix(name, "./")
	last := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[last:], '.')
	if dot <= 0 {
		return "", "", false
	}
	return name[:last+dot], strings.ToLower(name[last+dot+1:]), true
}

// splitDotted is splitName for names that have dots: they are separated by the last one.
func splitDotted(name string) (key, ext string, ok bool) {
	key, ext, ok = splitName(name)
	if at := strings.LastIndexByte(ext, '.'); at >= 0 {
		key, ext = strings.TrimPrefix(name, "./"), ext[at+1:]
		key = key[:len(key)-len(ext)-1]
	}
	return key, ext, ok
}

// isDotted reports whether the names of samples have dots: all of the first members have several, and an image has a class
// of its own beside it, as a.b.jpg and a.b.cls.
func isDotted(data []byte) bool {
	n, pair := 0, false
	is := map[string]bool{}
	err := eachMember(data, func(name string, _, _ int64) error {
		stem, last, _ := splitDotted(name)
		if _, ext, _ := splitName(name); ext == last && !isMeta(name) {
			return errPlain
		}
		if n++; n > looked {
			return io.EOF
		}
		is[stem+"."+last] = true
		pair = pair || is[stem+"."+classes] && (isImage(last) || last == classes && slices.ContainsFunc(imageExtensions, func(ext string) bool { return is[stem+"."+ext] }))
		return nil
	}, func(string, string) error { return nil })
	return pair && (err == nil || errors.Is(err, io.EOF))
}

var errPlain = errors.New("a name without dots")

// isMeta reports whether webdataset passes over the member: "__meta__" and such.
func isMeta(name string) bool {
	return !strings.Contains(name, "/") && strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

// imageExtensions are those of images; the first are those that are preferred where a sample has several.
var imageExtensions = []string{"jpg", "jpeg", "png", "webp", "bmp", "gif", "tif", "tiff", "jpe", "jfif", "img", "image"}

// partnerExtensions are those of values that stand beside an image in a sample.
var partnerExtensions = []string{
	"cls", "cls2", "json", "txt", "text", "caption", "npy", "npz", "id", "index", "inx", "class", "label", "target",
	"pyd", "pkl", "pickle", "pth", "ten", "tb", "mp", "msgpack", "cbor",
}

// lastPart is the extension proper: "png" of "mask.png".
func lastPart(ext string) string { return ext[strings.LastIndexByte(ext, '.')+1:] }

func isImage(ext string) bool { return slices.Contains(imageExtensions, lastPart(ext)) }

// looked is how many members are looked at to tell what a tar is.
const looked = 64

// looksLikeSamples reports whether among the first members of the tar at path are an image and a partner of
// the same key. In a compressed tar only a class is a partner: annotations lie beside the images of folders too.
func looksLikeSamples(path string) bool {
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return false
	}
	if !isPacked(path) {
		return hasPartners(f, partnerExtensions)
	}
	z, err := gzip.NewReader(f)
	return err == nil && hasPartners(z, []string{classes})
}

// hasPartners reports whether a tar begins with samples. "a.left.jpg" and "a.cls" are of one; "a.b.jpg" and "a.b.json"
// may as well be an image whose name has dots, and what lies beside it.
func hasPartners(in io.Reader, partners []string) bool {
	const plain, dotted, partner, plainPartner = 1, 2, 4, 8
	has := map[string]int{}
	r := tar.NewReader(in)
	for range looked {
		h, err := r.Next()
		if err != nil {
			return false
		}
		key, ext, ok := splitName(h.Name)
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		isDotted := strings.Contains(ext, ".")
		stem, _, _ := splitDotted(h.Name)
		switch {
		case isDotted && isImage(ext):
			has[stem] |= plain
		case isDotted && lastPart(ext) == classes: // nothing else is called so
			has[stem] |= partner
		}
		switch {
		case isImage(ext) && isDotted:
			has[key] |= dotted
		case isImage(ext):
			has[key] |= plain
		case slices.Contains(partners, ext):
			has[key] |= partner | plainPartner
		case slices.Contains(partners, lastPart(ext)):
			has[key] |= partner
		}
		for _, x := range []int{has[key], has[stem]} {
			if x&plain != 0 && x&partner != 0 || x&dotted != 0 && x&plainPartner != 0 {
				return true
			}
		}
	}
	return false
}

// eachMember calls yield with the name of each regular file in the tar, and where it is in it; other with the
// members that are none, except folders.
func eachMember(data []byte, yield func(name string, offset, size int64) error, other func(name, what string) error) error {
	in := bytes.NewReader(data)
	r := tar.NewReader(in)
	for {
		h, err := r.Next()
		offset := int64(len(data) - in.Len())
		switch {
		case errors.Is(err, io.EOF):
			return checkRest(data[offset:], offset, other)
		case err != nil:
			return fmt.Errorf("%w: at byte %d: %w", formats.ErrDamaged, offset, err)
		}
		switch {
		case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag != tar.TypeReg || isSparse(h):
			err = other(h.Name, kindOf(h))
		case h.Size > int64(len(data))-offset:
			err = fmt.Errorf("%w: the member %q would have %d bytes at byte %d, and the file ends at %d", formats.ErrDamaged, h.Name, h.Size, offset, len(data))
		default:
			err = yield(h.Name, offset, h.Size)
		}
		if err != nil {
			return err
		}
	}
}

// isSparse reports whether the member's bytes are not as they are stored.
func isSparse(h *tar.Header) bool {
	for name := range h.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func kindOf(h *tar.Header) string {
	switch h.Typeflag {
	case tar.TypeLink, tar.TypeSymlink:
		return fmt.Sprintf("a link to %q", h.Linkname)
	case tar.TypeReg, tar.TypeGNUSparse:
		return "a sparse file"
	}
	return fmt.Sprintf("a member of the type %q", h.Typeflag)
}

// checkRest notes what follows the end of an archive: another one, which cat appended. Nobody reads it.
func checkRest(rest []byte, offset int64, other func(name, what string) error) error {
	const most = 1 << 20
	for i, b := range rest[:min(len(rest), most)] {
		if b != 0 {
			return other(fmt.Sprintf("byte %d", offset+int64(i)), "data after the end of the archive, which is not read")
		}
	}
	return nil
}
