//go:build !linux

package pagecache

func drop(string) error { return ErrUnknown }

func residentPages(string) (in, all int64, err error) { return 0, 0, ErrUnknown }
