package codec

import (
	"encoding/binary"
	"hash/adler32"
	"io"
)

// storedChunks reads rows as the IDAT chunks of a PNG, not compressed, block by block: a copy of
// them all would be as large as the image. storedEnd has to follow.
type storedChunks struct {
	rows  []byte
	begun bool
	chunk []byte // of what is left
	buf   []byte
}

// storedBlock is the most that a stored block of deflate holds.
const storedBlock = 1<<16 - 1

// Read makes it an io.Reader.
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

// next makes the chunk of the next block.
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

// storedEnd is what ends the stream of rows: an empty last block and their checksum.
func storedEnd(rows []byte) []byte {
	return binary.BigEndian.AppendUint32([]byte{1, 0, 0, 0xFF, 0xFF}, adler32.Checksum(rows))
}
