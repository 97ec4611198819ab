// Package doctor examines the machine that dsconv runs on: what dsconv uses, what limits it, what is
// switched off because something is missing, and what switches it on.
package doctor

import (
	"context"
	"fmt"
	"time"
)

// Status says whether a Line needs attention.
type Status string

// The values of Status.
const (
	OK      Status = "ok"
	Warning Status = "warning"
)

// Line is one fact about the machine.
type Line struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Status Status `json:"status"`
	Advice string `json:"advice,omitempty"`
}

func ok(name, format string, args ...any) Line {
	return Line{Name: name, Value: fmt.Sprintf(format, args...), Status: OK}
}

// advise adds advice to a line without a warning.
func (l Line) advise(format string, args ...any) Line {
	l.Advice = fmt.Sprintf(format, args...)
	return l
}

// warn makes the line a warning with advice.
func (l Line) warn(format string, args ...any) Line {
	l.Status = Warning
	return l.advise(format, args...)
}

// Examine describes this build of dsconv, of that version, the machine, the disks of the current folder and of paths, and
// the Python called name. A disk, driver or program that does not answer within 10 seconds is said to hang.
func Examine(ctx context.Context, version, name string, paths []string) []Line {
	lines := append(libraries(version), limits()...)
	lines = append(lines, disk(ctx, "current folder", "."))
	for _, path := range paths {
		lines = append(lines, disk(ctx, path, path))
	}
	p := ask(ctx, name)
	n := answer(ctx, nvidia{noDriver: fmt.Errorf("the driver did not answer within %v", patience)}, func() nvidia { return openNVIDIA(p.Folders) })
	return append(append(lines, n.lines()...), p.lines(version, len(n.cards) > 0)...)
}

// patience is how long a disk, a driver or a program may take to answer.
var patience = 10 * time.Second

// answer returns what f returns, or instead if that takes too long. f is then left behind: nothing can
// end a system call that waits for a disk.
func answer[T any](ctx context.Context, instead T, f func() T) T {
	done := make(chan T, 1)
	go func() { done <- f() }()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case result := <-done:
		return result
	case <-limited.Done():
		return instead
	}
}

// size formats bytes in powers of two, as memory is sold and limits are given: 64 MiB.
func size(n int64) string {
	x, i := float64(n), 0
	for ; x >= 1023.5 && i < 5; i++ {
		x /= 1024
	}
	return fmt.Sprintf("%.4g %s", x, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}[i])
}
