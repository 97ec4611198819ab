package folder

import "context"

type progressKey struct{}

// WithProgress returns a context with which opening a folder or a list calls report, from time to time and from one goroutine
// at a time, with the number of files and folders that were found so far. report must return soon, and may be called until the
// folder is open.
func WithProgress(ctx context.Context, report func(files int)) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithValue(ctx, progressKey{}, report)
}

func progressOf(ctx context.Context) func(files int) {
	report, _ := ctx.Value(progressKey{}).(func(files int))
	return report
}
