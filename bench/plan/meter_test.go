package plan

import (
	"math"
	"testing"
)

// How two turns shared the cores with other programs is no property of their loaders.
func TestTurnsOnABusyMachine(t *testing.T) {
	turnOf := func(steady, cpu, read, decode float64) *turn {
		return &turn{steady: steady, cpu: cpu, parts: [4]float64{read, decode, 0, 0}}
	}
	for _, c := range []struct {
		name     string
		t, other *turn
		want     float64
	}{
		{"idle", turnOf(300, 600, 10, 600), turnOf(400, 800, 10, 800), 0.75},
		{"both lacked cores", turnOf(900, 600, 10, 1800), turnOf(600, 800, 10, 1200), 0.75},
		{"one waited for a disk", turnOf(900, 600, 1800, 600), turnOf(600, 800, 10, 1200), 1.5},
		{"CPU time is unknown", turnOf(900, 0, 10, 1800), turnOf(600, 0, 10, 1200), 1.5},
	} {
		if got := c.t.beside(c.other); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
