package vfs

import (
	"path"
	"slices"
	"strings"
)

// readExtensions are those of images that dsconv reads; UnreadExtensions are those of images that
// it cannot read and reports as skipped.
var (
	readExtensions   = []string{".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
	UnreadExtensions = []string{".ppm", ".pgm", ".pnm", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".tga", ".svg", ".dng", ".cr2", ".nef"}
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

// Stem is a path without its extension.
func Stem(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }
