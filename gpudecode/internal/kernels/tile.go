package kernels

// maxShared is what a block may take of a multiprocessor's shared memory: little enough that several blocks are
// resident on every GPU, and no launch needs the opt-in for more than 48 KiB.
const maxShared = 24 << 10

// tile chooses the tile that a block computes and returns how many there are and what a block stores between the
// passes, in bytes. A tile is 32 by 16 pixels if that fits; it becomes narrow in the direction of the first pass before
// it does in the other, in which neighbouring tiles need the same pixels.
func (j *job) tile(words []int32) (tiles, bytes int) {
	first, second := &j.hor, &j.ver
	a, b := 32, 16 // pixels along the axes of the first and of the second pass
	if j.verticalFirst != 0 {
		first, second, a, b = second, first, b, a
	}
	a, b = min(a, int(first.n)), min(b, int(second.n))
	for {
		bytes = a * second.span(words, b) * int(j.channels)
		if bytes <= maxShared || a == 1 && b == 1 {
			break
		}
		if a > 4 || b == 1 {
			a = (a + 1) / 2
		} else {
			b = (b + 1) / 2
		}
	}
	j.tileW, j.tileH = int32(a), int32(b)
	if j.verticalFirst != 0 {
		j.tileW, j.tileH = int32(b), int32(a)
	}
	return tilesOf(j.hor.n, j.tileW) * tilesOf(j.ver.n, j.tileH), bytes
}

func tilesOf(n, tile int32) int { return int((n + tile - 1) / tile) }

// span is the most source pixels that a tile of the size needs.
func (a *axis) span(words []int32, size int) int {
	if a.taps == 0 {
		return size
	}
	most := 0
	starts := words[a.start:][:a.n]
	for i := 0; i < len(starts); i += size {
		last := min(i+size, len(starts)) - 1
		most = max(most, int(starts[last]-starts[i]+a.taps))
	}
	return most
}
