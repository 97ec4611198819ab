package folder

import (
	"path"
	"slices"
	"strings"
)

// readExtensions are those of images that dsconv reads; unreadExtensions are those of images that
// it cannot read and reports as skipped.
var (
	readExtensions   = []string{".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
	unreadExtensions = []string{".ppm", ".pgm", ".pnm", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".tga", ".svg", ".dng", ".cr2", ".nef"}
)

// maxFile bounds the size of an image file, which is in memory as a whole: pixel.DefaultMaxPixels pixels of three
// colours of 16 bits need no more, and a sparse file of any size costs its maker nothing.
const maxFile = 1 << 30

// isImageExtension reports whether files with the extension are read as images.
func isImageExtension(ext string) bool { return slices.Contains(readExtensions, strings.ToLower(ext)) }

// hasImageName reports whether p has the extension of an image.
func hasImageName(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return slices.Contains(readExtensions, ext) || slices.Contains(unreadExtensions, ext)
}

// systemNames are the folders that programs other than the user put beside images, in lower case. Hidden
// folders, which begin with a dot, are others.
var systemNames = []string{
	"__macosx", "@eadir", "@recycle", "#recycle", "#snapshot", "$recycle.bin", "system volume information", "lost+found", "__pycache__",
}

func isSystemName(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(systemNames, strings.ToLower(name))
}

// inSystemFolder reports whether the file at a relative path is in a system folder.
func inSystemFolder(rel string) bool {
	folders := strings.Split(rel, "/")
	return slices.ContainsFunc(folders[:len(folders)-1], isSystemName)
}

// stem is a path without its extension.
func stem(p string) string { return strings.TrimSuffix(p, path.Ext(p)) }
