package parity

import "time"

// ErrUnmatched is errUnmatched for tests.
var ErrUnmatched = errUnmatched

// WithTimeout sets how long one image may take.
func (o Options) WithTimeout(d time.Duration) Options {
	o.timeout = d
	return o
}
