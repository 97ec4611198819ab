package reader

// share is one rank's part of an epoch of n samples. A step takes world*batch positions
// of the epoch, the r-th batch of them being rank r's, so that the position at the end of
// a step says how far all ranks are.
type share struct {
	n, batch    int
	start       int // position of the first batch
	rank, world int
	dropLast    bool
}

// batches is the number of batches, the same for every rank.
func (s share) batches() int {
	step := s.batch * s.world
	if s.dropLast {
		return (s.n - s.start) / step
	}
	return (s.n - s.start + step - 1) / step
}

// end is the position behind batch k of all ranks.
func (s share) end(k int) int {
	return min(s.start+(k+1)*s.batch*s.world, s.n)
}

// span is where in the epoch batch k lies. Positions from n on are padding.
func (s share) span(k int) (first, size int) {
	step := s.batch * s.world
	size = s.batch
	if left := s.n - s.start - k*step; left < step {
		size = (left + s.world - 1) / s.world
	}
	return s.start + k*step + s.rank*size, size
}

// samples is the number of entries in all batches, padding included.
func (s share) samples() int {
	k := s.batches()
	if k == 0 {
		return 0
	}
	_, last := s.span(k - 1)
	return (k-1)*s.batch + last
}
