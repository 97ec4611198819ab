package vfs

import "golang.org/x/text/unicode/norm"

// Composed is the form of a name in which letters with accents are one character: macOS stores them as two, and tables
// and annotations that were written elsewhere do not.
func Composed(name string) string { return norm.NFC.String(name) }

// Spelled returns the path of the file that p means: p itself, or p composed or decomposed. ok is false if there is none.
func Spelled(in FS, p string) (path string, ok bool) {
	last := ""
	for _, form := range []string{p, norm.NFC.String(p), norm.NFD.String(p)} {
		if form == last {
			continue
		}
		if st, err := in.Lstat(form); err == nil && !st.IsDir() {
			return form, true
		}
		last = form
	}
	return p, false
}

// HasSpellings reports whether p may be spelled otherwise.
func HasSpellings(p string) bool { return norm.NFC.String(p) != norm.NFD.String(p) }
