package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files again")

// round is a round of 1,000 images.
func round(seconds, waited, cpu float64, s Stages) Round {
	return Round{Images: 1000, Loaded: 1000, Epochs: 1, Seconds: seconds, WaitSeconds: waited, CPUSeconds: cpu, Stages: s}
}

// fixed is a report of three datasets with invented figures.
func fixed(t *testing.T, o Options) *Report {
	t.Helper()
	o, err := o.Filled()
	if err != nil {
		t.Fatal(err)
	}
	o.Workers = 2
	r := &Report{Machine: Machine{Cores: 2, GOMAXPROCS: 2}, Options: o, Consumer: o.consumer()}
	jpeg := Stages{Read: 0.05, Decode: 1.4, Augment: 0.2, Collate: 0.1, Step: 0.25}
	small := Stages{Read: 0.01, Decode: 0.5, Augment: 0.2, Collate: 0.1, Step: 0.25}
	raw := Stages{Read: 0.001, Augment: 0.2, Collate: 0.1, Step: 0.25}
	r.Datasets = []Dataset{
		{
			Path: "images", Format: "folder", Encoding: "jpeg", Samples: 1000, PeakMemory: 161e6, Mapped: 600e3, Disk: 104_300_000,
			Rounds: []Round{round(1, 0.6, 1.9, jpeg), round(2, 1.2, 1.9, jpeg), round(1.1, 0.66, 1.9, jpeg)},
		},
		{
			Path: "/a/folder/with/a/long/name/small.lmdb", Format: "lmdb", Encoding: "jpeg", Resize: "shorter:256", Samples: 1000,
			PeakMemory: 190e6, Mapped: 31e6, Disk: 31e6, Rounds: []Round{
				round(0.5, 0.05, 0.9, small), round(0.8, 0.08, 0.9, small),
				round(0.55, 0.055, 0.9, small),
			},
		},
		{
			Path: "raw.h5", Format: "hdf5", Encoding: "raw", Resize: "cover:256x256", Samples: 1000, PeakMemory: 1.4e9, Mapped: 197e6,
			Disk: 197e6, Rounds: []Round{
				round(0.25, 0.005, 0.4, raw), round(0.25, 0.005, 0.4, raw),
				round(0.26, 0.005, 0.4, raw),
			},
		},
	}
	r.summarise()
	for i := range r.Datasets {
		d := &r.Datasets[i]
		d.Costs = r.costs(d)
		r.diagnose(d)
	}
	return r
}

func TestTable(t *testing.T) {
	for name, o := range map[string]Options{"alone": {}, "consume": {Consume: 4000}} {
		var b bytes.Buffer
		if err := fixed(t, o).WriteTable(&b); err != nil {
			t.Fatal(err)
		}
		tables, _, _ := strings.Cut(b.String(), "images: ")
		for line := range strings.Lines(tables) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
				t.Errorf("%s: a line of %d columns: %s", name, n, line)
			}
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s: the table differs (-want +got); -update writes it again:\n%s", name, diff)
		}
	}
}

// TestRatio has a machine that was half as fast in the second round: the ratio of the
// medians would be 1.1/0.55, that of the rounds' ratios is 2 in any case, and the median
// does not follow the round in which only one of the two was slowed down.
func TestRatio(t *testing.T) {
	r := fixed(t, Options{})
	var got []float64
	for _, round := range r.Datasets[1].Rounds {
		got = append(got, round.Ratio)
	}
	want := []float64{1 / 0.5, 2 / 0.8, 1.1 / 0.55}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Errorf("ratios of the rounds %v, want %v", got, want)
		}
	}
	if d := r.Datasets[1]; math.Abs(d.Ratio-2) > 1e-9 || d.EpochSeconds != 0.55 {
		t.Errorf("ratio %g, epoch %g s; want 2 and 0.55", d.Ratio, d.EpochSeconds)
	}
	if raw := r.Datasets[2]; math.Abs(raw.Ratio-1.1/0.26) > 1e-9 {
		t.Errorf("ratio %g, want the median %g of 4, 8 and 4.23", raw.Ratio, 1.1/0.26)
	}
}

func TestReportAsJSON(t *testing.T) {
	want := fixed(t, Options{Consume: 100})
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	got.Options.Size, got.Options.Transforms = want.Options.Size, want.Options.Transforms // AugmentText has them
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Errorf("the JSON does not give the report back (-want +got):\n%s", diff)
	}
	if !bytes.Contains(data, []byte(`"wait_seconds":0.6`)) {
		t.Errorf("the rounds are missing: %s", data)
	}
}
