package jpeg

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// jpegScan is one scan of a JPEG (T.81, B.2.3).
type jpegScan struct {
	of          []*jpegComponent
	dc, ac      []*huffmanTable
	first, last int
	high, low   uint
}

// scan reads the entropy-coded data that begin at data[i:], and gives their end.
func (b *JpegBlocks) scan(data, body []byte, i int) (end int, err error) {
	var s jpegScan
	n := int(body[0])
	for k := range n {
		at := 0
		for b.list[at].id != body[1+2*k] {
			at++
		}
		c := &b.list[at]
		if c.known[0] == 0 {
			c.quant = b.quant[c.table]
		}
		s.of = append(s.of, c)
		s.dc = append(s.dc, &b.huffman[0][body[2+2*k]>>4])
		s.ac = append(s.ac, &b.huffman[1][body[2+2*k]&15])
	}
	s.first, s.last = int(body[1+2*n]), int(body[2+2*n])
	s.high, s.low = uint(body[3+2*n]>>4), uint(body[3+2*n]&15)
	if err := s.progress(); err != nil {
		return 0, err
	}
	b.bits = bitReader{data: data, at: i}
	across, rows := b.across, b.rows
	if n == 1 {
		across, rows = s.of[0].w, s.of[0].rows
	}
	b.restart(&s)
	for mcu := range across * rows {
		if mcu%across == 0 {
			if err := b.stop.Err(); err != nil {
				return 0, err
			}
		}
		if b.Interval > 0 && mcu > 0 && mcu%b.Interval == 0 {
			if err := b.bits.restart(mcu/b.Interval - 1); err != nil {
				return 0, err
			}
			b.restart(&s)
		}
		if err := b.mcu(&s, mcu%across, mcu/across); err != nil {
			return 0, err
		}
	}
	return b.bits.finish()
}

// progress checks that every scan begins with the bit of the coefficients that is next.
func (s *jpegScan) progress() error {
	for _, c := range s.of {
		for k := s.first; k <= s.last; k++ {
			next := uint(0)
			if c.known[k] > 0 {
				next = uint(c.known[k] - 1)
			}
			if s.high != next || k > 0 && c.known[0] == 0 {
				return fmt.Errorf("%w: scans of a JPEG in disorder", pixel.ErrCorrupt)
			}
			c.known[k] = byte(s.low) + 1
		}
	}
	return nil
}

func (b *JpegBlocks) restart(s *jpegScan) {
	b.run = 0
	for _, c := range s.of {
		c.dc = 0
	}
}

func (b *JpegBlocks) mcu(s *jpegScan, x, y int) error {
	if len(s.of) == 1 {
		return b.block(s, 0, &s.of[0].blocks[y*s.of[0].stride+x])
	}
	for i, c := range s.of {
		for v := range c.v {
			for h := range c.h {
				if err := b.block(s, i, &c.blocks[(y*c.v+v)*c.stride+x*c.h+h]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *JpegBlocks) block(s *jpegScan, i int, block *[64]int16) error {
	c := s.of[i]
	switch {
	case !b.Progressive:
		if err := b.dcFirst(c, s.dc[i], 0, block); err != nil {
			return err
		}
		return b.acFirst(s.ac[i], 1, 63, 0, block)
	case s.first == 0 && s.high == 0:
		return b.dcFirst(c, s.dc[i], s.low, block)
	case s.first == 0:
		bit, err := b.bits.read(1)
		block[0] |= int16(bit) << s.low
		return err
	case s.high == 0:
		return b.acFirst(s.ac[i], s.first, s.last, s.low, block)
	}
	return b.acRefine(s, block)
}

func (b *JpegBlocks) dcFirst(c *jpegComponent, t *huffmanTable, low uint, block *[64]int16) error {
	size, err := b.bits.symbol(t)
	if err != nil {
		return err
	}
	diff, err := b.bits.extend(int(size))
	c.dc += diff
	block[0] = int16(c.dc << low)
	return err
}

// acFirst reads the coefficients of a sequential scan or of the first one of a band (T.81,
// F.1.2.2 and G.1.2.2).
func (b *JpegBlocks) acFirst(t *huffmanTable, first, last int, low uint, block *[64]int16) error {
	if b.run > 0 {
		b.run--
		return nil
	}
	for k := first; k <= last; k++ {
		symbol, err := b.bits.symbol(t)
		if err != nil {
			return err
		}
		run, size := int(symbol>>4), int(symbol&15)
		if size == 0 && run < 15 {
			return b.endOfBand(run)
		}
		if k += run; k > 63 {
			return fmt.Errorf("%w: a JPEG coefficient past its block", pixel.ErrCorrupt)
		}
		if size == 0 {
			continue
		}
		v, err := b.bits.extend(size)
		if err != nil {
			return err
		}
		block[k] = int16(v << low)
	}
	return nil
}

// endOfBand reads for how many blocks nothing follows, this one aside.
func (b *JpegBlocks) endOfBand(size int) error {
	if !b.Progressive && size != 0 {
		return nil // libjpeg takes it for an end of block
	}
	more, err := b.bits.read(size)
	b.run = 1<<size + more - 1
	return err
}

// acRefine reads one more bit of the coefficients of a band (T.81, G.1.2.3).
func (b *JpegBlocks) acRefine(s *jpegScan, block *[64]int16) error {
	delta := int16(1) << s.low
	k := s.first
	for b.run == 0 && k <= s.last {
		symbol, err := b.bits.symbol(s.ac[0])
		if err != nil {
			return err
		}
		run, size := int(symbol>>4), int(symbol&15)
		var value int16
		switch {
		case size == 1:
			bit, err := b.bits.read(1)
			if err != nil {
				return err
			}
			if value = -delta; bit == 1 {
				value = delta
			}
		case size != 0:
			return fmt.Errorf("%w: a JPEG coefficient refined by more than a bit", pixel.ErrCorrupt)
		case run < 15:
			if err := b.endOfBand(run); err != nil {
				return err
			}
			b.run++ // this block is still to be refined
			continue
		}
		if k, err = b.refine(block, k, s.last, run, delta); err != nil {
			return err
		}
		if value != 0 {
			if k > s.last {
				return fmt.Errorf("%w: a JPEG coefficient past its band", pixel.ErrCorrupt)
			}
			block[k] = value
		}
		k++
	}
	if b.run == 0 {
		return nil
	}
	b.run--
	_, err := b.refine(block, k, s.last, 64, delta)
	return err
}

// refine reads a bit of every coefficient that is not 0, from k on, and stops at the zero
// after run others.
func (b *JpegBlocks) refine(block *[64]int16, k, last, run int, delta int16) (int, error) {
	for ; k <= last; k++ {
		if block[k] == 0 {
			if run == 0 {
				break
			}
			run--
			continue
		}
		bit, err := b.bits.read(1)
		if err != nil {
			return k, err
		}
		switch {
		case bit == 0 || block[k]&delta != 0:
		case block[k] > 0:
			block[k] += delta
		default:
			block[k] -= delta
		}
	}
	return k, nil
}
