package tfrecord

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

var (
	braceRange = regexp.MustCompile(`\{(\d+)\.\.(\d+)\}`)
	braceList  = regexp.MustCompile(`\{([^{}]*)\}`)
)

// maxPaths is more files than any dataset has.
const maxPaths = 1 << 16

// expandBraces returns the paths that a shell makes of a pattern with {00000..00009} and {a,b}.
func expandBraces(pattern string) ([]string, error) {
	done, open := []string{}, []string{pattern}
	for len(open) > 0 {
		p := open[0]
		open = open[1:]
		alternatives, from, to, err := firstBrace(p)
		if err != nil {
			return nil, err
		}
		if alternatives == nil {
			done = append(done, p)
			continue
		}
		if len(open)+len(done)+len(alternatives) > maxPaths {
			return nil, fmt.Errorf("%s: %w: the braces stand for more than %d files", pattern, formats.ErrNotDataset, maxPaths)
		}
		for _, a := range alternatives {
			open = append(open, p[:from]+a+p[to:])
		}
	}
	return done, nil
}

// firstBrace returns what the first braces of a pattern stand for, nil if there are none, and where they are.
func firstBrace(p string) (alternatives []string, from, to int, err error) {
	if m := braceRange.FindStringSubmatchIndex(p); m != nil {
		low, high := p[m[2]:m[3]], p[m[4]:m[5]]
		a, err1 := strconv.Atoi(low)
		b, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || b < a || b-a >= maxPaths {
			return nil, 0, 0, fmt.Errorf("%s: %w: {%s..%s} is not a range of shards", p, formats.ErrNotDataset, low, high)
		}
		for i := a; i <= b; i++ {
			alternatives = append(alternatives, fmt.Sprintf("%0*d", len(low), i))
		}
		return alternatives, m[0], m[1], nil
	}
	if m := braceList.FindStringSubmatchIndex(p); m != nil {
		return strings.Split(p[m[2]:m[3]], ","), m[0], m[1], nil
	}
	return nil, 0, 0, nil
}
