// Package exif reads the first directory of a TIFF, which is also what an EXIF block is: in it is
// the orientation of a photo.
package exif
