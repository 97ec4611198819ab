//go:build cgo

package kernels_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/gpudecode/internal/kernels"
	"github.com/dsconv/dsconv/gpudecode/internal/kernels/internal/emulate"
)

// canaries are buffers that were filled, on the way to a check.
type canaries struct {
	list   []kernels.Canary
	memory []emulate.Memory
	seed   uint64
}

func fill(t *testing.T, seed uint64, sizes ...[3]int) *canaries {
	t.Helper()
	c := &canaries{seed: seed}
	for _, s := range sizes {
		width, rows, pitch := s[0], s[1], s[2]
		m := emulate.Allocate(pitch*(rows-1) + width)
		c.memory = append(c.memory, m)
		c.list = append(c.list, kernels.Canary{Address: m.Address, Pitch: int32(pitch), Width: int32(width), Rows: int32(rows)})
	}
	c.run(t, kernels.CanaryFill, 0)
	return c
}

func (c *canaries) run(t *testing.T, name string, counts uint64) {
	t.Helper()
	up := emulate.Copy(kernels.CanaryBytes(c.list))
	defer up.Free()
	l := kernels.CanaryLaunch(c.list)
	if err := emulate.Run(name, l.Grid, l.Block, l.Shared, [3]uint64{up.Address, c.seed, counts}); err != nil {
		t.Fatal(err)
	}
}

// untouched returns how many runs of each buffer still have the pattern.
func (c *canaries) untouched(t *testing.T) []uint32 {
	t.Helper()
	counts := emulate.Allocate(4 * len(c.list))
	defer counts.Free()
	c.run(t, kernels.CanaryCheck, counts.Address)
	n := make([]uint32, len(c.list))
	if _, err := binary.Decode(counts.Bytes, binary.LittleEndian, n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (c *canaries) free() {
	for _, m := range c.memory {
		m.Free()
	}
}

func TestWhatIsNotWrittenIsCounted(t *testing.T) {
	// Width, rows and pitch in bytes: an ordinary one, rows with an end of their own, narrow ones, one byte.
	c := fill(t, 7, [3]int{96, 40, 128}, [3]int{101, 7, 101}, [3]int{3, 50, 8}, [3]int{7, 3, 7}, [3]int{1, 1, 1}, [3]int{3000, 600, 3072})
	defer c.free()
	if got, want := c.untouched(t), []uint32{12 * 40, 13 * 7, 19, 3, 1, 375 * 600}; !slices.Equal(got, want) {
		t.Fatalf("nothing was written: %d runs are untouched, want all, %d", got, want)
	}
	for i, k := range c.list {
		overwrite(c.memory[i], k, 0, k.Rows, 0, k.Width)
	}
	if got := c.untouched(t); !slices.Equal(got, make([]uint32, 6)) {
		t.Errorf("all was written: %d runs are untouched", got)
	}
}

// overwrite writes other bytes to a part of a buffer.
func overwrite(m emulate.Memory, k kernels.Canary, top, bottom, left, right int32) {
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			m.Bytes[y*k.Pitch+x] ^= 0x5A
		}
	}
}

// A decoder that leaves out a row, a block of 8 by 8 pixels or the end of a row is noticed.
func TestPartsThatAreNotWrittenAreCounted(t *testing.T) {
	for name, part := range map[string][4]int32{ // top, bottom, left, right
		"last row":     {39, 40, 0, 300},
		"first row":    {0, 1, 0, 300},
		"end of a row": {17, 18, 292, 300},
		"grey block":   {16, 24, 136, 144},
		"RGB block":    {8, 16, 72, 96},
	} {
		t.Run(name, func(t *testing.T) {
			c := fill(t, 11, [3]int{300, 40, 320})
			defer c.free()
			k, m := c.list[0], c.memory[0]
			overwrite(m, k, 0, k.Rows, 0, k.Width)
			overwrite(m, k, part[0], part[1], part[2], part[3]) // as it was
			if n := c.untouched(t)[0]; n == 0 {
				t.Error("the part is not noticed")
			}
		})
	}
}

// Images do not look like the pattern, whatever they show, nor does the pattern of another seed.
func TestWrittenImagesAreNotTakenForTheCanary(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	paint := map[string]func(i int) byte{
		"black": func(int) byte { return 0 }, "white": func(int) byte { return 255 },
		"ramp": func(i int) byte { return byte(i) }, "noise": func(int) byte { return byte(r.Uint32()) },
	}
	for name, at := range paint {
		c := fill(t, 13, [3]int{897, 300, 900})
		for i := range c.memory[0].Bytes {
			c.memory[0].Bytes[i] = at(i)
		}
		if n := c.untouched(t)[0]; n != 0 {
			t.Errorf("%s: %d runs count as untouched", name, n)
		}
		c.free()
	}
	c := fill(t, 17, [3]int{897, 300, 900})
	defer c.free()
	if c.seed = 18; c.untouched(t)[0] != 0 {
		t.Error("the pattern of an earlier batch counts as this one's")
	}
}
