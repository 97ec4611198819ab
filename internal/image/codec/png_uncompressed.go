package codec

import (
	"encoding/binary"
	"hash/adler32"
	"io"
)

// storedChunks reads rows as uncompressed IDAT chunks of a PNG, block by block: a copy of all rows
// would be as large as the image. storedEnd must follow.
type storedChunks struct {
	rows  []byte
	begun bool
	chunk []byte // not read yet
	buf   []byte
}

// storedBlock is the largest stored block of deflate.
const storedBlock = 1<<16 - 1

// Read implements io.Reader.
func (s *storedChunks) Read(p []byte) (int, error) {
	if len(s.chunk) == 0 {
		if len(s.rows) == 0 {
			return 0, io.EOF
		}
		s.next()
	}
	n := copy(p, s.chunk)
	s.chunk = s.chunk[n:]
	return n, nil
}

// next builds the chunk of the next block.
func (s *storedChunks) next() {
	block := s.rows[:min(len(s.rows), storedBlock)]
	s.rows = s.rows[len(block):]
	var body []byte
	if !s.begun {
		s.begun = true
		body = append(body, 0x78, 0x01) // zlib's header
	}
	body = append(body, 0)
	body = binary.LittleEndian.AppendUint16(body, uint16(len(block)))
	body = binary.LittleEndian.AppendUint16(body, ^uint16(len(block)))
	s.buf = AppendChunk(s.buf[:0], "IDAT", append(body, block...))
	s.chunk = s.buf
}

// storedEnd ends the stream of rows: an empty last block and the checksum of the rows.
func storedEnd(rows []byte) []byte {
	return binary.BigEndian.AppendUint32([]byte{1, 0, 0, 0xFF, 0xFF}, adler32.Checksum(rows))
}
