package h5file

// message is one message of an object header.
type message struct {
	kind int
	body []byte
}

// The kinds of messages that are read.
const (
	msgDataspace    = 0x01
	msgLinkInfo     = 0x02
	msgDatatype     = 0x03
	msgLink         = 0x06
	msgExternal     = 0x07
	msgLayout       = 0x08
	msgFilters      = 0x0b
	msgContinuation = 0x10
	msgSymbolTable  = 0x11
)

const (
	maxMessages      = 1 << 16
	maxContinuations = 1 << 10
)

// messages reads the object header at an address.
func (f *File) messages(at uint64) ([]message, error) {
	c, err := f.from(at)
	if err != nil {
		return nil, err
	}
	if len(c.b) >= 4 && string(c.b[:4]) == "OHDR" {
		return f.messages2(c)
	}
	return f.messages1(c)
}

// messages1 reads a header of version 1.
func (f *File) messages1(c *cursor) (list []message, err error) {
	if version := c.u8(); version != 1 {
		return nil, damaged("an object header of version %d", version)
	}
	c.take(1)
	total := c.u16()
	c.take(4)
	size := c.u32()
	c.take(4)
	pieces := []*cursor{{b: c.take(size)}}
	if c.failed {
		return nil, damaged("an object header of %d bytes is not within the file", size)
	}
	for n := 0; n < len(pieces); n++ {
		p := pieces[n]
		for len(p.b) >= 8 && len(list) < total {
			kind, size, flags := p.u16(), p.u16(), p.u8()
			p.take(3)
			body := p.take(size)
			if p.failed {
				return nil, damaged("a message of %d bytes is not within its object header", size)
			}
			list = append(list, message{kind, body})
			if list, pieces, err = f.follow(list, pieces, flags, ""); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// messages2 reads a header of version 2.
func (f *File) messages2(c *cursor) (list []message, err error) {
	c.take(4)
	if version := c.u8(); version != 2 {
		return nil, damaged("an object header of version %d", version)
	}
	flags := c.u8()
	if flags&0x20 != 0 {
		c.take(16) // times
	}
	if flags&0x10 != 0 {
		c.take(4) // limits of attributes
	}
	size := c.number(1 << (flags & 3))
	if size > uint64(len(c.b)) {
		return nil, damaged("an object header of %d bytes is not within the file", size)
	}
	pieces := []*cursor{{b: c.take(int(size))}}
	head := 4
	if flags&4 != 0 {
		head += 2 // order of creation
	}
	for n := 0; n < len(pieces); n++ {
		p := pieces[n]
		for len(p.b) >= head && len(list) < maxMessages {
			kind, size, flags := p.u8(), p.u16(), p.u8()
			p.take(head - 4)
			body := p.take(size)
			if p.failed {
				return nil, damaged("a message of %d bytes is not within its object header", size)
			}
			list = append(list, message{kind, body})
			if list, pieces, err = f.follow(list, pieces, flags, "OCHK"); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// follow adds the piece that the last message refers to, if it refers to one. Pieces of version 2 begin with
// a signature and end with a checksum.
func (f *File) follow(list []message, pieces []*cursor, flags int, sign string) ([]message, []*cursor, error) {
	last := list[len(list)-1]
	if flags&2 != 0 && last.kind != msgContinuation {
		if last.kind == msgDatatype || last.kind == msgDataspace || last.kind == msgFilters {
			return nil, nil, unsupported("a data type that several datasets share")
		}
		return list[:len(list)-1], pieces, nil
	}
	if last.kind != msgContinuation {
		return list, pieces, nil
	}
	c := &cursor{b: last.body}
	at, size := c.u64(), c.u64()
	if c.failed || len(pieces) == maxContinuations {
		return nil, nil, damaged("the continuation of an object header")
	}
	b, err := f.bytes(at, size)
	if err != nil {
		return nil, nil, err
	}
	if sign != "" {
		if len(b) < 8 || string(b[:4]) != sign {
			return nil, nil, damaged("the continuation of an object header has no signature")
		}
		b = b[4 : len(b)-4]
	}
	return list, append(pieces, &cursor{b: b}), nil
}
