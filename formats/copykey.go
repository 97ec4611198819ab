package formats

import (
	"strconv"
	"strings"
)

// CopiesKey is the key in Meta.Recipe of the number of augmented copies that a pack made of each sample.
const CopiesKey = "copies"

// CopyKey is the key of augmented copy c, from 1, of the sample with that key.
func CopyKey(key string, c int) string { return key + "@" + strconv.Itoa(c) }

// LikeCopy reports whether key ends as CopyKey's results do.
func LikeCopy(key string) bool {
	at := strings.LastIndexByte(key, '@')
	if at < 1 {
		return false
	}
	_, err := strconv.ParseUint(key[at+1:], 10, 64)
	return err == nil
}

// IsCopy reports whether the sample with that key, of a dataset with that recipe, is an augmented copy of another one. The
// dataset that it was packed from may have had the copies already: source.copies, or source.source.copies.
func IsCopy(recipe map[string]string, key string) bool {
	if !LikeCopy(key) {
		return false
	}
	for k := range recipe {
		for found := true; found; {
			k, found = strings.CutPrefix(k, "source.")
		}
		if k == CopiesKey {
			return true
		}
	}
	return false
}
