package synth

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseSplits(t *testing.T) {
	for s, want := range map[string][]Split{
		"":                           nil,
		"val=0.2":                    {{"train", 0.8}, {"val", 0.2}},
		"val=0.1, test=0.1":          {{"test", 0.1}, {"train", 0.8}, {"val", 0.1}},
		"train=0.7,val=0.2,test=0.1": {{"test", 0.1}, {"train", 0.7}, {"val", 0.2}},
	} {
		if got, err := ParseSplits(s); err != nil || !cmp.Equal(got, want, cmpopts.EquateApprox(0, 1e-9)) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"val", "val=", "val=x", "val=0", "val=-1", "val=NaN", "val=1.1", "val=0.2,val=0.2", "val=0.6,test=0.6", "train=0.5,val=0.2", "../up=0.5", ","} {
		if got, err := ParseSplits(s); err == nil {
			t.Errorf("%q: %v, want an error", s, got)
		}
	}
}

func TestPlanSharesEachClass(t *testing.T) {
	o := Options{N: 107, Classes: 4, Width: 16, Height: 16, Splits: []Split{{"test", 0.1}, {"train", 0.6}, {"val", 0.3}}}
	paths, err := plan(o)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string][4]int{}
	for i, path := range paths {
		split, rest, _ := strings.Cut(path, "/")
		c := counts[split]
		c[i%4]++
		counts[split] = c
		if !strings.HasPrefix(rest, className(i%4)+"/") {
			t.Errorf("image %d is at %s", i, path)
		}
	}
	for c := range 4 { // 27 or 26 images each
		if tr, v, te := counts["train"][c], counts["val"][c], counts["test"][c]; tr < 15 || tr > 17 || v < 7 || v > 9 || te < 2 || te > 4 {
			t.Errorf("class %d: train %d, val %d, test %d", c, tr, v, te)
		}
	}
}
