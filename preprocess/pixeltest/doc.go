// Package pixeltest has what the tests of preprocess and its packages share: Pillow to compare with,
// images, and a corpus of damaged and unusual files.
package pixeltest
