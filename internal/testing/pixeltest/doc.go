// Package pixeltest has what the tests of preprocess and of its packages share: Pillow to compare with,
// images, and a corpus of damaged and irregular files.
package pixeltest
