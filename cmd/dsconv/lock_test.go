package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// If processes pack into the same DST at the same time, one writes; the others are refused or find it
// finished.
func TestPacksAtTheSameTime(t *testing.T) {
	src := samples(t, "30", "64x48")
	for _, name := range outputsOf() {
		t.Run(name, func(t *testing.T) {
			flags := []string{"--checkpoint=20KB"}
			whole := t.TempDir()
			if code, said := packTo(t, src, filepath.Join(whole, name), flags...); code != exitDone {
				t.Fatal(said)
			}
			want := formatcheck.Tree(t, whole)
			for round := range 6 {
				dir := t.TempDir()
				together(t, src, filepath.Join(dir, name), flags)
				formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
				if t.Failed() {
					t.Fatalf("in round %d", round)
				}
			}
		})
	}
}

func together(t *testing.T, src, dst string, flags []string) {
	t.Helper()
	var packs [3]*process
	for i := range packs {
		packs[i] = startPack(t, src, dst, flags)
	}
	done := 0
	for _, p := range packs {
		code, said := p.wait(), p.said.String()
		refused := strings.Contains(said, formats.ErrLocked.Error()) || strings.Contains(said, formats.ErrExists.Error())
		switch {
		case code == exitDone:
			done++
		case code != exitFailed || !refused:
			t.Errorf("exit code %d: %s", code, said)
		}
	}
	if done != 1 {
		t.Errorf("%d of %d were done", done, len(packs))
	}
}

// --discard drops what an interrupted pack left, whatever its options were.
func TestDiscard(t *testing.T) {
	src := samples(t, "60", "64x48")
	for _, name := range outputsOf() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			dst := filepath.Join(dir, name)
			interrupt(t, src, dst)
			code, said := packTo(t, src, dst, "--limit=20")
			if code != exitFailed || !strings.Contains(said, "limit") || !strings.Contains(said, "--discard") {
				t.Errorf("with other options: exit code %d: %s", code, said)
			}
			if code, said := packTo(t, src, dst, "--limit=20", "--discard"); code != exitDone || strings.Contains(said, "done before") {
				t.Fatalf("exit code %d: %s", code, said)
			}
			whole := t.TempDir()
			if code, said := packTo(t, src, filepath.Join(whole, name), "--limit=20"); code != exitDone {
				t.Fatal(said)
			}
			formatcheck.SameTrees(t, formatcheck.Tree(t, dir), formatcheck.Tree(t, whole))
		})
	}
}
