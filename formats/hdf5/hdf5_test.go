//go:build cgo

package hdf5

import (
	"flag"
	"os"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/formattest"
	"github.com/dsconv/dsconv/internal/testing/forgottentest"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func TestMain(m *testing.M) {
	big.Child()
	flag.Parse()
	if *update {
		if err := writeFixture(); err != nil {
			panic(err)
		}
	}
	forgottentest.Exit("orgotten")(formatcheck.OwnCache{M: m}.Run()) // of formattest's test
}

func writeFixture() error {
	if err := os.RemoveAll(fixture); err != nil {
		return err
	}
	w, err := Format{}.Create(fixture, fixtureMeta, formats.CreateOptions{})
	if err != nil {
		return err
	}
	for i := range fixtureCount {
		if err := w.Write(fixtureSample(i)); err != nil {
			return err
		}
	}
	return w.Commit()
}

func TestConformance(t *testing.T) { formattest.Run(t, Format{}, "x.h5") }

func TestSIGKILL(t *testing.T) { big.Kill(t, "x.h5") }

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x.h5") }
