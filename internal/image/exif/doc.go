// Package exif reads a photo's orientation from its EXIF block, which is a TIFF without image.
package exif
