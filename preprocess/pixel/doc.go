// Package pixel has decoded images and what can be said about them: colours, rectangles, the EXIF
// orientation, and the errors about images that callers tell apart.
//
//	m, err := pixel.FromImage(img) // of any type of the standard library
//	...
//	err = m.Crop(m, pixel.Rect{X: 10, Y: 10, W: 64, H: 64}) // in place
//	...
//	out := m.ToImage() // a copy
//
// An [Image] is a slice of bytes in the order height, width, channels, as numpy has it. It owns its
// pixels; functions that write one use its memory again. Images are not for several goroutines at once
// while one of them writes. Package codec reads them from files and writes them.
package pixel
