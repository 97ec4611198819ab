package archive

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// What follows the end mark of a tar is listed by the tar's name, but for the padding of a record.
func TestAfterEnd(t *testing.T) {
	one, two := makeTar(t, file{good, []byte("good")}), makeTar(t, file{"b.jpg", noise(5000, 1)})
	zeros := func(n int) []byte { return make([]byte, n) }
	hole := makeTar(t, file{good, []byte("good")}, file{"b.jpg", noise(5000, 1)}, file{"c.jpg", nil})
	clear(hole[1024:2048])
	for what, c := range map[string]struct {
		data []byte
		want string // "" for nothing
	}{
		"padding":          {slices.Concat(one, zeros(longestPadding-1024)), ""},
		"part of a block":  {slices.Concat(one, zeros(100)), ""},
		"joined":           {slices.Concat(one, two), "data follows the end mark of this tar at byte 2048"},
		"joined, padded":   {slices.Concat(one, zeros(8192), two), "data follows the end mark of this tar at byte 10240"},
		"rubbish":          {slices.Concat(one, zeros(100), []byte("x")), "data follows the end mark of this tar at byte 2148"},
		"a hole":           {hole, "data follows"},
		"a reserved rest":  {slices.Concat(one, zeros(2<<20)), "zeros follow the end mark"},
		"zeros, and a tar": {slices.Concat(one, zeros(2<<20), two), "zeros follow the end mark"},
	} {
		t.Run(what, func(t *testing.T) {
			kinds(t, c.data, func(name string, data []byte) {
				want := map[string]string{}
				if c.want != "" {
					want[name+"/"] = c.want
				}
				check(t, name, data, want)
			})
			if c.want == "" {
				return
			}
			check(t, "outer.tar", makeTar(t, file{"in.tar", c.data}, file{good, []byte("good")}), map[string]string{"in.tar/": "follow"})
			root := writeAll(t, map[string][]byte{"train/a.tar": c.data, "train/dog.tar": two})
			classes, err := OpenClassArchives(context.Background(), root)
			must(t, err)
			defer classes.Close()
			if refused := refusedBy(classes); len(refused) != 1 || !strings.Contains(refused["train/a.tar/"], c.want) {
				t.Errorf("of archives of classes: %q", refused)
			}
		})
	}
}
