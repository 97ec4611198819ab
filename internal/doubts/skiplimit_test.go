package doubts

import "testing"

func TestLimit(t *testing.T) {
	for _, k := range []struct {
		text           string
		skipped, total int
		want           bool
	}{
		{"", 0, 0, true},
		{"", 10, 12, true},
		{"", 11, 12, false},
		{"", 11, 1099, false},
		{"", 11, 1100, true},
		{"", 12, 1100, false},
		{"0", 0, 5, true},
		{"0", 1, 5, false},
		{"3", 3, 5, true},
		{"3", 4, 100000, false},
		{"0%", 1, 1000, false},
		{"5%", 5, 100, true},
		{"5%", 6, 100, false},
		{"0.5%", 1, 100, false},
		{"0.5%", 1, 200, true},
		{"100%", 7, 7, true},
	} {
		l, err := ParseLimit(k.text)
		if err != nil || (l.Check(k.skipped, k.total, "a.jpg: empty") == nil) != k.want {
			t.Errorf("%q: %d of %d: %v, want %v", k.text, k.skipped, k.total, err, k.want)
		}
	}
	for _, text := range []string{"-1", "x", "%", "101%", "-1%", "NaN%", "1.5", "5 %", "9999999999999999999999"} {
		if _, err := ParseLimit(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
