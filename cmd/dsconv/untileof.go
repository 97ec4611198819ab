package main

import (
	"context"
	"io"
	"os"
)

// untilEOF returns a context that ends with ctx, or when the pipe in is at its end: its other end was closed, or the
// process that held it was killed. stop frees it. A goroutine reads in until the process ends.
func untilEOF(ctx context.Context, in io.Reader) (_ context.Context, stop func(), err error) {
	if f, ok := in.(*os.File); ok {
		st, err := f.Stat()
		if err != nil {
			return nil, nil, err
		}
		if st.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
			return nil, nil, errNotPiped
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error is an end too
		cancel()
	}()
	return ctx, cancel, nil
}
