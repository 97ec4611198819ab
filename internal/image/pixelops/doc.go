// Package pixelops changes pixels in place: brightness, contrast, colour, blur, sharpness and the
// blending of two images, as Pillow and torchvision do, bit for bit.
package pixelops
