package reader

import "github.com/dsconv/dsconv/gpudecode"

// Stats is what a Loader did since it was opened.
type Stats struct {
	Clock Clock
	// BadTimes and Bad are what Loader.Bad returns.
	BadTimes int64
	Bad      []BadSample
	Narrowed Narrowed
	// Decoded counts the images by what decoded them, each view for itself with DecodeOnGPU; those that were not
	// encoded too.
	Decoded gpudecode.Counts
}

// Stats sums up what the Loader did. It may be called at any time, after Close too.
func (l *Loader) Stats() Stats {
	s := Stats{Clock: l.Clock(), Narrowed: l.Narrowed()}
	s.BadTimes, s.Bad = l.Bad()
	if l.gpu == nil {
		s.Decoded = gpudecode.Counts{CPU: s.Clock.Images, Reasons: map[string]int64{}}
		return s
	}
	s.Decoded = l.gpu.decoded.Counts()
	return s
}
