package h5file

import (
	"bytes"
	"compress/zlib"
	"io"
)

// filter is one step of how chunks are written.
type filter struct {
	id   int
	data []int
}

// The filters that are read.
const (
	filterDeflate  = 1
	filterShuffle  = 2
	filterFletcher = 3
	filterLZF      = 32000
)

// names of filters that are not read.
var filterNames = map[int]string{4: "szip", 5: "nbit", 6: "scaleoffset", 32001: "blosc", 32004: "lz4", 32008: "bitshuffle", 32013: "zfp", 32015: "zstd", 32026: "blosc2"}

func parseFilters(b []byte) (list []filter, err error) {
	if b == nil {
		return nil, nil
	}
	c := &cursor{b: b}
	version, n := c.u8(), c.u8()
	if version == 1 {
		c.take(6)
	} else if version != 2 {
		return nil, damaged("filters of version %d", version)
	}
	for range n {
		f := filter{id: c.u16()}
		name := 0
		if version == 1 || f.id >= 256 {
			name = c.u16()
		}
		c.take(2) // flags
		values := c.u16()
		if version == 1 {
			name = (name + 7) &^ 7
		}
		c.take(name)
		for range values {
			f.data = append(f.data, c.u32())
			if c.failed {
				break
			}
		}
		if version == 1 && values%2 == 1 {
			c.take(4)
		}
		if c.failed {
			return nil, damaged("the filters of a dataset are not complete")
		}
		if f.id > filterFletcher && f.id != filterLZF || f.id == 0 {
			name := filterNames[f.id]
			return nil, unsupported("the filter %d (%s)", f.id, name)
		}
		list = append(list, f)
	}
	return list, nil
}

// maxRatio is more than gzip compresses anything.
const maxRatio = 1100

// large is held by those who decompress large chunks: few may at once.
var large = make(chan struct{}, 4)

// largeChunk is from which size on a chunk is large.
const largeChunk = 16 << 20

// undo returns the size bytes of a chunk that was stored as b.
func undo(filters []filter, mask uint32, b []byte, size uint64, element int) ([]byte, error) {
	if size > maxRatio*uint64(len(b)) {
		return nil, damaged("a chunk of %d bytes cannot become %d", len(b), size)
	}
	if size >= largeChunk {
		large <- struct{}{}
		defer func() { <-large }()
	}
	for i := len(filters) - 1; i >= 0; i-- {
		if i < 32 && mask&(1<<i) != 0 {
			continue
		}
		var err error
		switch filters[i].id {
		case filterDeflate:
			b, err = inflate(b, size)
		case filterLZF:
			b, err = unlzf(b, size)
		case filterShuffle:
			b = unshuffle(b, element)
		case filterFletcher:
			b, err = fletcher(b)
		}
		if err != nil {
			return nil, err
		}
	}
	if uint64(len(b)) < size {
		return nil, damaged("a chunk has %d bytes instead of %d", len(b), size)
	}
	return b[:size:size], nil
}

// checksumSize is what fletcher32 adds. Filters before it see that too.
const checksumSize = 4

func inflate(b []byte, size uint64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, damaged("a chunk cannot be decompressed: %v", err)
	}
	out := make([]byte, 0, size+checksumSize)
	buf := bytes.NewBuffer(out)
	if _, err := io.Copy(buf, io.LimitReader(z, int64(size)+checksumSize+1)); err != nil {
		return nil, damaged("a chunk cannot be decompressed: %v", err)
	}
	if uint64(buf.Len()) > size+checksumSize {
		return nil, damaged("a chunk has more than %d bytes", size)
	}
	return buf.Bytes(), nil
}

// unshuffle puts the bytes of each element side by side.
func unshuffle(b []byte, element int) []byte {
	n := len(b) / max(element, 1)
	if element < 2 || n < 2 {
		return b
	}
	out := make([]byte, len(b))
	for k := range element {
		for i, x := range b[k*n : (k+1)*n] {
			out[i*element+k] = x
		}
	}
	copy(out[n*element:], b[n*element:])
	return out
}

// unlzf decompresses LZF.
func unlzf(b []byte, size uint64) ([]byte, error) {
	out := make([]byte, 0, size)
	bad := func() ([]byte, error) { return nil, damaged("a chunk cannot be decompressed by lzf") }
	for len(b) > 0 {
		control := int(b[0])
		b = b[1:]
		if control < 32 { // literals
			n := control + 1
			if n > len(b) || uint64(len(out)+n) > size {
				return bad()
			}
			out, b = append(out, b[:n]...), b[n:]
			continue
		}
		n, back := control>>5, (control&31)<<8
		if n == 7 {
			if len(b) == 0 {
				return bad()
			}
			n, b = n+int(b[0]), b[1:]
		}
		if len(b) == 0 {
			return bad()
		}
		back, b = back+int(b[0])+1, b[1:]
		n += 2
		if back > len(out) || uint64(len(out)+n) > size {
			return bad()
		}
		for range n {
			out = append(out, out[len(out)-back])
		}
	}
	return out, nil
}

// fletcher verifies the checksum after the data, and returns the data.
func fletcher(b []byte) ([]byte, error) {
	if len(b) < checksumSize {
		return nil, damaged("a chunk is too short for its checksum")
	}
	data := b[:len(b)-checksumSize]
	want := (&cursor{b: b[len(data):]}).u32()
	var s1, s2 uint32
	i := 0
	for ; i+1 < len(data); i += 2 {
		s1 = (s1 + uint32(data[i])<<8 + uint32(data[i+1])) % 65535
		s2 = (s2 + s1) % 65535
	}
	if i < len(data) {
		s1 = (s1 + uint32(data[i])<<8) % 65535
		s2 = (s2 + s1) % 65535
	}
	// Zero and 65535 are the same to the sums.
	if got := s2<<16 | s1; fold(got) != fold(uint32(want)) {
		return nil, damaged("the checksum of a chunk differs")
	}
	return data, nil
}

func fold(x uint32) uint32 { return (x>>16)%65535<<16 | (x&0xffff)%65535 }
