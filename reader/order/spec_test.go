package order

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]Spec{
		"none":           {Kind: None},
		"full":           {Kind: Full},
		"block:256:64":   {Kind: Block, Block: 256, Window: 64},
		"weighted":       {Kind: Weighted},
		"weighted:5000":  {Kind: Weighted, Draws: 5000},
		"balanced":       {Kind: Balanced},
		"balanced:70000": {Kind: Balanced, Draws: 70000},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
	for _, text := range []string{
		"", "shuffle", "Full", "none:", "full:3", "block", "block:", "block:1", "block:1:", "block:1:2:3", "block:0:4", "block:4:0",
		"block:-1:4", "block:+1:4", "block:1:99999999999", "weighted:", "weighted:0", "weighted:1:2", "balanced:x",
	} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q is taken as %s", text, s)
		}
	}
}

func TestSpecsAreChecked(t *testing.T) {
	for _, s := range []Spec{
		{Kind: "nonsense"},
		{Kind: Block},
		{Kind: Block, Block: -1, Window: 1},
		{Kind: Full, Window: 3},
		{Draws: 5},
		{Kind: Weighted, Draws: -1},
		{Kind: Weighted, Block: 2},
		{Kind: Block, Block: 1, Window: 1, Draws: 1},
	} {
		if err := s.Check(); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"none", "full", "block:256:64", "weighted:007", "balanced:9", "block::", "x:1:2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if s != (Spec{}) {
				t.Fatalf("%q: %v and %+v", text, err, s)
			}
			return
		}
		if err := s.Check(); err != nil {
			t.Fatalf("%q is taken: %v", text, err)
		}
		if again, err := Parse(s.String()); err != nil || again != s {
			t.Fatalf("%q becomes %s, which is %+v, %v", text, s, again, err)
		}
	})
}
