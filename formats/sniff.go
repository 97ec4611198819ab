package formats

import "bytes"

// Sniff returns an image's encoding judged by its first bytes, not by its file name; "" if
// dsconv cannot read it.
func Sniff(data []byte) Encoding {
	for _, m := range []struct {
		magic string
		enc   Encoding
	}{
		{"\xff\xd8\xff", JPEG},
		{"\x89PNG\r\n\x1a\n", PNG},
		{"GIF87a", GIF},
		{"GIF89a", GIF},
		{"BM", BMP},
		{"II*\x00", TIFF},
		{"MM\x00*", TIFF},
		{"II+\x00", TIFF}, // BigTIFF; Pillow does not read big-endian ones
	} {
		if bytes.HasPrefix(data, []byte(m.magic)) {
			return m.enc
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return WebP
	}
	return ""
}
