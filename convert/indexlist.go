package convert

// indexList has the source's indices of a plan's samples by position. As long as they are 0, 1, 2, ... it
// takes no memory, after that 4 bytes a sample.
type indexList struct {
	n       int
	indices *offheapArray[int32] // nil as long as positions are indices
}

// add appends index i. expected is the number of indices that the list will probably have.
func (l *indexList) add(i, expected int) error {
	if l.indices == nil && i != l.n || l.indices != nil && l.n == l.indices.Len() {
		if err := l.grow(max(2*l.n, expected, 1)); err != nil {
			return err
		}
	}
	if l.indices != nil {
		l.indices.Set(l.n, int32(i))
	}
	l.n++
	return nil
}

// grow makes an array of at least size indices.
func (l *indexList) grow(size int) error {
	indices, err := newOffheap[int32](size)
	if err != nil {
		return err
	}
	for pos := range l.n {
		indices.Set(pos, int32(l.at(pos)))
	}
	l.indices = indices
	return nil
}

// at returns the index at a position.
func (l *indexList) at(pos int) int {
	if l.indices == nil {
		return pos
	}
	return int(l.indices.At(pos))
}

func (l *indexList) arrange(o Order) error {
	if l.indices == nil {
		if err := l.grow(l.n); err != nil {
			return err
		}
	}
	l.indices.Use(func(list []int32) { o.Arrange(list[:l.n]) })
	return nil
}
