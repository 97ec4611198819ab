package vfs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/dsconv/dsconv/formats"
)

// readExtensions are those of images that dsconv reads; UnreadExtensions are those of images that
// it cannot read and reports as skipped.
var (
	readExtensions   = []string{".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
	UnreadExtensions = []string{
		".ppm", ".pgm", ".pbm", ".pnm", ".pam", ".pfm", ".heic", ".heif", ".avif", ".jp2", ".j2k", ".jxl", ".tga", ".svg", ".psd", ".exr", ".hdr", ".dcm",
		".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".orf", ".rw2", ".raf", ".pef", ".srw", ".3fr", ".svs", ".ndpi", // many of them begin as a TIFF
	}
	// otherExtensions are those of files that are no images, of which folders may have very many: nobody looks into these.
	otherExtensions = strings.Fields(`.txt .json .jsonl .ndjson .xml .csv .tsv .lst .list .yaml .yml .toml .ini .cfg .conf .md .rst .log .html .htm .css .tex
		.caption .cls .names .data .csl .geojson .npy .npz .mat .pkl .pickle .parquet .arrow .feather .h5 .hdf5 .mdb .lmdb .db .sqlite .idx .index .tfrecord .mds .bin
		.pt .pth .ckpt .onnx .safetensors .pb .weights .py .pyc .ipynb .m .r .c .h .cpp .cu .go .js .java .sh .bat .lua .rs .so .dll .exe
		.pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods .rtf .mp4 .m4v .avi .mov .mkv .webm .mpg .mpeg .wmv .flv .mp3 .wav .flac .ogg .aac .m4a
		.zip .tar .gz .tgz .zst .bz2 .xz .7z .rar .z .nii .obj .ply .stl .pcd .las .srt .vtt .md5 .sha1 .sha256 .sha512 .sig .asc .torrent .lock .url .lnk .desktop
		.tmp .temp .part .partial .crdownload .download .bak .orig .swp .old`)
)

// MaxFile bounds the size of an image file, which is in memory as a whole: pixel.DefaultMaxPixels pixels of three
// colours of 16 bits need no more, and a sparse file of any size costs its maker nothing.
const MaxFile = 1 << 30

// IsImageExtension reports whether files with the extension are read as images.
func IsImageExtension(ext string) bool { return slices.Contains(readExtensions, strings.ToLower(ext)) }

// HasImageName reports whether p has the extension of an image.
func HasImageName(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return slices.Contains(readExtensions, ext) || slices.Contains(UnreadExtensions, ext)
}

// isOther reports whether p has a name of a file that is no image, or is hidden.
func isOther(p string) bool {
	name := strings.ToLower(path.Base(p))
	return name[0] == '.' || strings.HasSuffix(path.Dir(p), ".dsconv") || strings.HasSuffix(name, "~") || name == "_success" || slices.Contains(otherExtensions, path.Ext(name))
}

// IsUnknown reports whether the name at p does not tell whether the file is an image: its first bytes do.
func IsUnknown(p string) bool { return !HasImageName(p) && !isOther(p) && !HasArchiveName(p) }

// archiveExtensions are those of archives, of which some are not read as sources either.
var archiveExtensions = []string{
	".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.zstd", ".tzst", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz", ".tar.z", ".7z", ".rar",
}

// HasArchiveName reports whether p has the extension of an archive, and is not hidden, as what macOS puts beside files.
func HasArchiveName(p string) bool {
	name := strings.ToLower(path.Base(p))
	return name[0] != '.' && slices.ContainsFunc(archiveExtensions, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

// systemNames are the folders that programs other than the user put beside images, in lower case. Hidden
// folders, which begin with a dot, are others.
var systemNames = []string{
	"__macosx", "@eadir", "@recycle", "#recycle", "#snapshot", "$recycle.bin", "system volume information", "lost+found", "__pycache__",
}

// IsSystemName reports whether a folder of that name is hidden or a system folder.
func IsSystemName(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(systemNames, strings.ToLower(name))
}

// InSystemFolder reports whether the file at a relative path is in a system folder.
func InSystemFolder(rel string) bool {
	folders := strings.Split(rel, "/")
	return slices.ContainsFunc(folders[:len(folders)-1], IsSystemName)
}

// ImageStem is the Stem of an image. What follows a dot in a name such as photo.jpg_large, or in a hash, is no extension.
func ImageStem(p string) string {
	if HasImageName(p) {
		return Stem(p)
	}
	return p
}

// Stem is a path without its extension.
func Stem(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }

// Composed is the form of a name in which letters with accents are one character: macOS stores them as two, and tables
// and annotations that were written elsewhere do not.
func Composed(name string) string { return norm.NFC.String(name) }

// Spelled returns the path of the file that p means: p itself, or p composed or decomposed. ok is false if there is none.
func Spelled(in FS, p string) (path string, ok bool) {
	last := ""
	for _, form := range []string{p, norm.NFC.String(p), norm.NFD.String(p)} {
		if form == last {
			continue
		}
		if st, err := in.Lstat(form); err == nil && !st.IsDir() {
			return form, true
		}
		last = form
	}
	return p, false
}

// HasSpellings reports whether p may be spelled otherwise.
func HasSpellings(p string) bool { return norm.NFC.String(p) != norm.NFD.String(p) }

// ImagesIn lists the images and the folders in a folder, in the order of their names, without hidden ones.
func ImagesIn(in FS, dir string) (images, below []string, err error) {
	d, err := in.OpenFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	for {
		entries, err := d.Next()
		if err != nil {
			return nil, nil, err
		}
		if len(entries) == 0 {
			slices.Sort(images)
			slices.Sort(below)
			return images, below, nil
		}
		for _, e := range entries {
			name := e.Name()
			switch {
			case IsSystemName(name):
			case e.IsDir():
				below = append(below, name)
			case HasImageName(name):
				images = append(images, name)
			}
		}
	}
}

// AllImages returns the paths of the images in a folder and below, relative to it, sorted.
func AllImages(in FS, folder string) ([]string, error) {
	all, below, err := ImagesIn(in, folder)
	for _, name := range below {
		if err != nil {
			return nil, err
		}
		var deeper []string
		deeper, err = AllImages(in, path.Join(folder, name))
		for _, rel := range deeper {
			all = append(all, name+"/"+rel)
		}
	}
	slices.Sort(all)
	return all, err
}

// HasImages reports whether there are images in a folder or below.
func HasImages(in FS, dir string) bool {
	images, below, _ := ImagesIn(in, dir) // that it cannot be listed is the scan's to say
	return len(images) > 0 || slices.ContainsFunc(below, func(name string) bool { return HasImages(in, path.Join(dir, name)) })
}

var errUTF16 = errors.New("it is UTF-16: save it as UTF-8")

// ReadText reads a text file without its byte order mark, with lines that end in \n.
// It is an error, which names the file and the encoding found, if the text is not UTF-8.
func ReadText(in FS, file string) ([]byte, error) {
	b, err := ReadBytes(in, file)
	if err != nil {
		return nil, err
	}
	if b, err = PlainText(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// ReadBytes reads a file that the Config names as it is.
func ReadBytes(in FS, file string) ([]byte, error) {
	f, err := in.OpenText(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// PlainText is ReadText for text that was read already.
func PlainText(b []byte) ([]byte, error) {
	if err := notText(b); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return nil, errUTF16
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if i := bytes.IndexByte(b, 0); i >= 0 {
		if i < 4 { // within the first two characters
			return nil, errUTF16
		}
		return nil, fmt.Errorf("line %d: a NUL byte, where text is expected", lineOf(b, i))
	}
	if i := firstInvalid(b); i >= 0 {
		return nil, fmt.Errorf("line %d: the byte %#02x is not UTF-8 (is it Latin-1?): save it as UTF-8", lineOf(b, i), b[i])
	}
	if bytes.IndexByte(b, '\n') < 0 { // the line ends of an old Mac
		b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
	}
	return b, nil
}

// firstInvalid returns the offset of the first byte that is not UTF-8, or -1.
func firstInvalid(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// lineOf returns the number of the line of byte i.
func lineOf(b []byte, i int) int {
	n := bytes.Count(b[:i], []byte("\n"))
	if n == 0 {
		n = bytes.Count(b[:i], []byte("\r"))
	}
	return n + 1
}

// headSize is how much of a file is read to find out what it is.
const headSize = 512

// Content looks at the first bytes of the file at name. what is "" if they are those of an image, else what they are instead;
// isText says that it is text, as a README is.
func Content(in FS, name string) (what string, isText bool, err error) {
	head := make([]byte, headSize)
	n, err := in.Head(name, head)
	if err != nil || formats.Sniff(head[:n]) != "" {
		return "", false, err
	}
	what = formats.Content(head[:n])
	return cmp.Or(what, "data of an unknown kind"), what == "text", nil
}

// IsAppleDouble reports whether a content is what macOS writes beside a file on disks of other systems and in archives: ._cat.jpg
// has attributes of cat.jpg, and is no image.
func IsAppleDouble(what string) bool { return what == formats.Content([]byte("\x00\x05\x16\x07")) }

func isImage(in FS, name string) bool {
	what, _, err := Content(in, name)
	return err == nil && what == ""
}

const asTable = "; write its labels as a .csv with the columns path and label"

// others are files that people give for text, by their first bytes.
var others = []struct{ start, what string }{
	{"\x1f\x8b", "it is compressed by gzip; decompress it first"},
	{"BZh", "it is compressed by bzip2; decompress it first"},
	{"\xfd7zXZ", "it is compressed by xz; decompress it first"},
	{"\x28\xb5\x2f\xfd", "it is compressed by zstd; decompress it first"},
	{"PK\x03\x04", "it is a zip archive, or an Excel workbook; unpack it, or save the sheet as .csv"},
	{"\xd0\xcf\x11\xe0", "it is an Excel workbook; save the sheet as .csv"},
	{"MATLAB 5.0", "it is a MATLAB file" + asTable},
	{"\x89HDF", "it is an HDF5 file, as MATLAB writes since 7.3" + asTable},
	{"PAR1", "it is a Parquet file; give it a name that ends in .parquet"},
	{"\x93NUMPY", "it is an array of NumPy" + asTable},
	{"\x80\x03", "it is a pickle of Python" + asTable},
	{"\x80\x04", "it is a pickle of Python" + asTable},
	{"\x80\x05", "it is a pickle of Python" + asTable},
	{"%PDF", "it is a PDF document" + asTable},
}

// notText returns what b is, if that is known not to be text.
func notText(b []byte) error {
	for _, k := range others {
		if bytes.HasPrefix(b, []byte(k.start)) && (k.start != "BZh" || bytes.IndexByte(b, 0) >= 0) {
			return errors.New(k.what)
		}
	}
	return nil
}
