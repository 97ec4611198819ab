package doubts

// See bounds how many hashes are remembered.
func (f *Finder) See(n int) { f.maxSeen = n }
