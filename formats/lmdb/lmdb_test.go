//go:build cgo

package lmdb

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/formattest"
	"github.com/dsconv/dsconv/internal/testing/forgottentest"
)

func TestMain(m *testing.M) {
	big.Child()
	flag.Parse()
	if *update {
		if err := writeFixture(); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(forgottentest.Exit("orgotten"))) // of formattest's test
}

func writeFixture() error {
	if err := os.RemoveAll(fixture); err != nil {
		return err
	}
	w, err := Format{}.Create(fixture, fixtureMeta, formats.CreateOptions{})
	if err != nil {
		return err
	}
	defer w.Close()
	for i, s := range fixtureSamples() {
		if i == fixtureCount/2 {
			if err := w.Checkpoint(nil); err != nil {
				return err
			}
		}
		if err := w.Write(s); err != nil {
			return err
		}
	}
	return w.Commit()
}

func TestConformance(t *testing.T) { formattest.Run(t, Format{}, "x.lmdb") }

func TestSIGKILL(t *testing.T) { big.Kill(t, "x.lmdb") }

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x.lmdb") }
