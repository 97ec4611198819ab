package vfs

import (
	"path"
)

// Where returns a folder or file of in as an argument of a command names it, as far as that is known.
func Where(in FS, name string) string {
	switch in := in.(type) {
	case *Watched:
		return Where(in.FS, name)
	case disk:
		return in.Join(name)
	case tree:
		return path.Join(in.String(), name)
	case *union:
		if m, below := in.having(name); m != nil {
			return Where(m.In, below)
		}
	}
	return name
}
