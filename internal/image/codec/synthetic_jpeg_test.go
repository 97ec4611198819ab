package codec

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/dsconv/dsconv/internal/image/jpeg"
)

// choose returns a number below n, from a random source or a fuzzer's bytes.
type choose func(n int) int

func chooseRandomly(seed uint64) choose {
	return rand.New(rand.NewPCG(seed, 0)).IntN
}

// chooseBy reads data; after its end all choices are 0.
func chooseBy(data []byte) choose {
	return func(n int) int {
		v := 0
		for most := n - 1; most > 0 && len(data) > 0; most >>= 8 {
			v, data = v<<8|int(data[0]), data[1:]
		}
		return v % n
	}
}

// huffmanTable is a Huffman table and the code of each symbol.
type huffmanTable struct {
	counts  [17]byte
	symbols []byte
	code    [256]uint32
	size    [256]int
}

func newHuffmanTable(lengths []int, symbols []byte) *huffmanTable {
	t := &huffmanTable{symbols: symbols}
	slices.Sort(lengths)
	code, last := uint32(0), lengths[0]
	for i, s := range symbols {
		code <<= lengths[i] - last
		last = lengths[i]
		t.counts[last]++
		t.code[s], t.size[s] = code, last
		code++
	}
	return t
}

const longestCode = 16

// lengths returns the lengths of a Huffman code of n symbols in which no code is all ones: one of
// each length, or random ones.
func (c choose) lengths(n int) []int {
	if n <= longestCode && c(3) > 0 {
		var chain []int
		for i := range n {
			chain = append(chain, i+1)
		}
		return chain
	}
	leaves := []int{0}
	for len(leaves) <= n {
		i := c(len(leaves))
		if leaves[i] == longestCode {
			i = slices.IndexFunc(leaves, func(l int) bool { return l < longestCode })
		}
		leaves[i]++
		leaves = append(leaves, leaves[i])
	}
	slices.Sort(leaves)
	leaves = leaves[:n]
	if c(4) == 0 { // unused codes
		for i := range leaves {
			leaves[i] = min(longestCode, leaves[i]+c(4))
		}
	}
	return leaves
}

const zeroRun, endOfBlock = 0xF0, 0x00

// acTable returns a table of symbols of all kinds in any order: most have an end of block and a run
// of 16 zeros somewhere, and all have a value without zeros before it.
func (c choose) acTable() *huffmanTable {
	var symbols []byte
	size := func() byte { return byte(1 + c(10)) }
	for range c(4) * c(10) {
		symbols = append(symbols, byte(c(16))<<4|size())
	}
	if c(6) == 0 { // values that baseline JPEGs do not have
		symbols = append(symbols, byte(c(16))<<4|byte(11+c(5)))
	}
	if c(6) == 0 { // libjpeg reads them as ends of block
		symbols = append(symbols, byte(1+c(14))<<4)
	}
	if c(2) == 0 { // a long run, perhaps with a short code
		symbols = c.insert(symbols, byte(8+c(8))<<4|byte(1+c(2)))
	}
	symbols = c.insert(symbols, size())
	if c(8) > 0 {
		symbols = c.insert(symbols, endOfBlock)
	}
	if c(5) > 0 {
		symbols = c.insert(symbols, zeroRun)
	}
	return newHuffmanTable(c.lengths(len(symbols)), symbols)
}

// insert inserts a symbol at a random position, most often in front, where codes are short. Symbols stay
// unique.
func (c choose) insert(symbols []byte, s byte) []byte {
	slices.Sort(symbols)
	symbols = slices.Compact(symbols)
	symbols = slices.DeleteFunc(symbols, func(have byte) bool { return have == s })
	for i := range symbols {
		j := i + c(len(symbols)-i)
		symbols[i], symbols[j] = symbols[j], symbols[i]
	}
	at := 0
	if c(3) == 0 {
		at = c(len(symbols) + 1)
	}
	return slices.Insert(symbols, at, s)
}

// runTable returns a table with the shortest codes for runs of zeros, some of which fill a block.
func (c choose) runTable() *huffmanTable {
	symbols := []byte{zeroRun, byte(8+c(8))<<4 | byte(1+c(2)), byte(c(16))<<4 | 1, endOfBlock, 0x01}
	if i := c(len(symbols)); i > 0 {
		symbols[i], symbols[i-1] = symbols[i-1], symbols[i]
	}
	seen := [256]bool{}
	symbols = slices.DeleteFunc(symbols, func(s byte) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
	return newHuffmanTable(c.lengths(len(symbols)), symbols)
}

func (c choose) dcTable() *huffmanTable {
	var symbols []byte
	for range c(12) {
		symbols = append(symbols, byte(c(12)))
	}
	if c(12) == 0 {
		symbols = append(symbols, byte(12+c(4)))
	}
	symbols = c.insert(symbols, byte(c(2)*c(12)))
	return newHuffmanTable(c.lengths(len(symbols)), symbols)
}

// syntheticJPEG is a baseline JPEG built symbol by symbol.
type syntheticJPEG struct {
	choose
	w, h     int
	factors  []byte // of each component
	interval int
	overflow bool // blocks may have more than 64 coefficients
	order    int  // how symbols are chosen: any, those of short codes, one almost always, one always
	zeros    bool // the bits of values are 0
	same     int  // how many blocks are still written in this order
	dc, ac   [2]*huffmanTable
	tables   []byte // the tables of each component
	out      []byte
	bits     uint64
	n        int
}

// samplings are the sampling factors of images with 1, 3 and 4 components.
var samplings = [][]byte{
	{0x11},
	{0x22},
	{0x11, 0x11, 0x11},
	{0x21, 0x11, 0x11},
	{0x22, 0x11, 0x11},
	{0x12, 0x11, 0x11},
	{0x41, 0x11, 0x11},
	{0x42, 0x11, 0x11},
	{0x14, 0x11, 0x11},
	{0x22, 0x21, 0x12},
	{0x22, 0x12, 0x21},
	{0x11, 0x11, 0x11, 0x11},
	{0x22, 0x11, 0x11, 0x22},
	{0x22, 0x22, 0x11},
	{0x24, 0x11, 0x11},
	{0x31, 0x11, 0x11},
}

// newSyntheticJPEG builds a JPEG. Its data are valid unless overflow.
func newSyntheticJPEG(c choose) (j *syntheticJPEG) {
	j = &syntheticJPEG{choose: c, w: 1 + c(200), h: 1 + c(120), factors: samplings[c(len(samplings))], overflow: c(3) == 0}
	runs := c(3) == 0
	for i := range j.ac {
		if j.dc[i], j.ac[i] = c.dcTable(), c.acTable(); runs {
			j.ac[i] = c.runTable()
		}
	}
	if runs {
		j.factors = samplings[0]
	}
	for range j.factors {
		j.tables = append(j.tables, byte(c(2)<<4|c(2)))
	}
	across, down := j.mcus()
	if !runs && c(2) == 0 {
		j.interval = 1 + c(2*across)
	}
	j.headers()
	for mcu := range across * down {
		if j.interval > 0 && mcu > 0 && mcu%j.interval == 0 {
			j.pad()
			j.out = append(j.out, 0xFF, jpeg.MarkRST0+byte(mcu/j.interval-1)&7)
		}
		for i := range j.factors {
			for range j.blocks(i) {
				j.block(i)
			}
		}
	}
	j.pad()
	j.out = append(j.out, 0xFF, jpeg.MarkEOI)
	return j
}

// blocks is the number of blocks of a component in an MCU.
func (j *syntheticJPEG) blocks(i int) int {
	if len(j.factors) == 1 {
		return 1
	}
	return int(j.factors[i]>>4) * int(j.factors[i]&15)
}

func (j *syntheticJPEG) mcus() (across, down int) {
	h, v := 1, 1
	if len(j.factors) > 1 {
		for _, f := range j.factors {
			h, v = max(h, int(f>>4)), max(v, int(f&15))
		}
	}
	return (j.w + 8*h - 1) / (8 * h), (j.h + 8*v - 1) / (8 * v)
}

func (j *syntheticJPEG) segment(mark byte, body ...byte) {
	j.out = append(j.out, 0xFF, mark)
	j.out = binary.BigEndian.AppendUint16(j.out, uint16(2+len(body)))
	j.out = append(j.out, body...)
}

func (j *syntheticJPEG) headers() {
	j.out = []byte{0xFF, jpeg.MarkSOI}
	quant := []byte{0}
	most := 1 << j.choose(7)
	for range 64 {
		quant = append(quant, byte(1+j.choose(most)))
	}
	j.segment(jpeg.MarkDQT, quant...)
	frame := []byte{8, byte(j.h >> 8), byte(j.h), byte(j.w >> 8), byte(j.w), byte(len(j.factors))}
	scan := []byte{byte(len(j.factors))}
	for i, f := range j.factors {
		frame = append(frame, byte(i+1), f, 0)
		scan = append(scan, byte(i+1), j.tables[i])
	}
	j.segment(jpeg.MarkSOF0, frame...)
	for i := range j.ac {
		for class, t := range []*huffmanTable{j.dc[i], j.ac[i]} {
			j.table(byte(class<<4|i), t)
		}
	}
	if j.interval > 0 {
		j.segment(jpeg.MarkDRI, byte(j.interval>>8), byte(j.interval))
	}
	j.segment(jpeg.MarkSOS, append(scan, 0, 63, 0)...)
}

func (j *syntheticJPEG) table(id byte, t *huffmanTable) {
	j.segment(jpeg.MarkDHT, slices.Concat([]byte{id}, t.counts[1:], t.symbols)...)
}

func (j *syntheticJPEG) block(component int) {
	if j.same--; j.same < 0 {
		j.order, j.zeros, j.same = j.choose(4), j.choose(3) == 0, j.choose(256)
	}
	dc, ac := j.dc[j.tables[component]>>4], j.ac[j.tables[component]&15]
	j.put(dc, j.any(dc))
	for k := 1; k < 64; {
		s := j.symbol(ac, 64-k)
		j.put(ac, s)
		switch {
		case s == zeroRun:
			k += 16
		case s&15 == 0:
			return
		default:
			k += int(s>>4) + 1
		}
	}
}

// symbol chooses a symbol that fits into room coefficients.
func (j *syntheticJPEG) symbol(t *huffmanTable, room int) byte {
	s := j.any(t)
	if j.overflow || s&15 == 0 && s != zeroRun || int(s>>4) < room {
		return s
	}
	if fits := slices.IndexFunc(t.symbols, func(s byte) bool { return s&15 > 0 && int(s>>4) == room-1 }); fits >= 0 && j.choose(4) > 0 {
		return t.symbols[fits] // the block needs no end
	}
	if t.size[endOfBlock] > 0 && j.choose(2) == 0 {
		return endOfBlock
	}
	for _, s := range t.symbols {
		if s>>4 == 0 && s&15 > 0 {
			return s
		}
	}
	panic("a table without such a symbol")
}

func (j *syntheticJPEG) any(t *huffmanTable) byte {
	switch n := len(t.symbols); {
	case j.order == 0, j.order == 2 && j.choose(16) == 0:
		return t.symbols[j.choose(n)]
	case j.order == 1: // of short codes
		return t.symbols[j.choose(1+j.choose(n))]
	}
	return t.symbols[0]
}

// put writes a symbol and random bits of its value.
func (j *syntheticJPEG) put(t *huffmanTable, s byte) {
	j.bit(uint64(t.code[s]), t.size[s])
	size, v := int(s&15), 0
	if !j.zeros {
		v = j.choose(1 << size)
	}
	j.bit(uint64(v), size)
}

func (j *syntheticJPEG) bit(v uint64, n int) {
	j.bits, j.n = j.bits<<n|v, j.n+n
	for ; j.n >= 8; j.n -= 8 {
		b := byte(j.bits >> (j.n - 8))
		if j.out = append(j.out, b); b == 0xFF {
			j.out = append(j.out, 0)
		}
	}
}

// pad pads the last byte, with ones as encoders do.
func (j *syntheticJPEG) pad() {
	if j.n > 0 {
		j.bit(1<<(8-j.n)-1, 8-j.n)
	}
	j.bits, j.n = 0, 0
}
