package vfs

import (
	"bytes"
	"errors"
)

const asTable = "; write its labels as a .csv with the columns path and label"

// others are files that people give for text, by their first bytes.
var others = []struct{ start, what string }{
	{"\x1f\x8b", "it is compressed by gzip; decompress it first"},
	{"BZh", "it is compressed by bzip2; decompress it first"},
	{"\xfd7zXZ", "it is compressed by xz; decompress it first"},
	{"\x28\xb5\x2f\xfd", "it is compressed by zstd; decompress it first"},
	{"PK\x03\x04", "it is a zip archive, or an Excel workbook; unpack it, or save the sheet as .csv"},
	{"\xd0\xcf\x11\xe0", "it is an Excel workbook; save the sheet as .csv"},
	{"MATLAB 5.0", "it is a MATLAB file" + asTable},
	{"\x89HDF", "it is an HDF5 file, as MATLAB writes since 7.3" + asTable},
	{"PAR1", "it is a Parquet file; give it a name that ends in .parquet"},
	{"\x93NUMPY", "it is an array of NumPy" + asTable},
	{"\x80\x03", "it is a pickle of Python" + asTable},
	{"\x80\x04", "it is a pickle of Python" + asTable},
	{"\x80\x05", "it is a pickle of Python" + asTable},
	{"%PDF", "it is a PDF document" + asTable},
}

// notText returns what b is, if that is known not to be text.
func notText(b []byte) error {
	for _, k := range others {
		if bytes.HasPrefix(b, []byte(k.start)) && (k.start != "BZh" || bytes.IndexByte(b, 0) >= 0) {
			return errors.New(k.what)
		}
	}
	return nil
}
