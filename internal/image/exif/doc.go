// Package exif reads the first directory of a TIFF. An EXIF block is one too: it has the orientation of a
// photo.
package exif
