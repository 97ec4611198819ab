package verdict

import (
	"strings"
	"testing"
)

// TestSentences has a verdict of each kind as people read it.
func TestSentences(t *testing.T) {
	parts := usual().Parts
	for _, c := range []struct {
		name string
		c    Costs
		want []string // in the text and the evidence
	}{
		{"compute that starves a little", Costs{Workers: 2, Cores: 2, Parts: parts, Loop: true, Epoch: 2, Starved: 0.12}, []string{
			"compute-bound: the loop's own step takes the time, and faster data would save at most 12 %",
			"the loop was busy for 1.76 ms an image", "the loop waited for data for 12 % of the epoch",
		}},
		{"compute without workers", Costs{Cores: 2, Parts: parts, Loop: true, Step: 1900, Epoch: 2.85}, []string{
			"and faster data would save at most 33 %", "the loop alone 1.90 s, loading in the loop 0.95 s",
			"the loop's step takes 1.90 ms an image on batches in memory, while nothing is loaded",
		}},
		{"cores", Costs{Workers: 8, Cores: 0.5, Parts: parts, Loop: true, Step: 5, StepCPU: 5}, []string{
			"short of CPU: 8 workers and the loop share 0.5 cores; with a core for each, an epoch would take 0.12 s instead of 1.81 s",
			"the CPU time on 0.5 cores 1.81 s",
		}},
		{"cores without workers", Costs{Cores: 0.25, Parts: parts, LocalRanks: 1}, []string{
			"short of CPU: the loop, which loads the data too, has 0.25 cores; with a core for each, an epoch would take 0.95 s instead of 3.60 s",
		}},
		{"a Python transform with an equal", Costs{Workers: 1, Cores: 2, Parts: []Part{
			{Name: "train.Cutout", Kind: Augment, Wall: 5000, CPU: 5000, Python: true, Native: "erase:1"},
			{Name: "decode", Kind: Decode, Wall: 1000, CPU: 400, Queue: 500},
		}, OtherCPU: 1.5}, []string{
			"Python-bound: without the dataset's Python code, most of which is train.Cutout, an epoch would take 0.50 s instead of 5.50 s; " +
				"dsconv's equal is erase:1",
			"train.Cutout: 5.00 ms an image, 91 % of the loading, all of it CPU; dsconv's equal: erase:1",
			"other programs kept 1.5 cores busy, which the verdict leaves out",
		}},
		{"a disk", Costs{Workers: 1, Parts: []Part{
			{Name: "read", Kind: Read, Wall: 600, CPU: 60}, {Name: "decode", Kind: Decode, Wall: 400, CPU: 400, Queue: 0},
		}}, []string{
			"storage-bound: without reading, an epoch would take 0.40 s instead of 1.00 s",
			"read: 600 us an image, 60 % of the loading (60.0 us of CPU, waiting for 540 us)",
		}},
		{"handing over", Costs{Workers: 1, Processes: true, Loader: 5000, Parts: parts}, []string{
			"collate-bound: without collating batches and handing them over, an epoch would take 0.80 s instead of 5.00 s",
			"4.05 ms an image are in no part: handing batches over to the loop",
		}},
		{"no parts", Costs{Workers: 2, Loader: 500, Loop: true, Step: 100}, []string{
			"loading-bound: without waiting for data, an epoch would take 100 ms instead of 0.50 s",
			"the loader is slower than the loop; what it spends its time on was not measured: dsconv bench --script measures that",
		}},
		{"a loader alone without parts", Costs{Workers: 2, Loader: 500}, []string{"what the loader spends its time on was not measured"}},
		{"a DataLoader of which only the waiting is known", Costs{Workers: 24, Cores: 16, Loop: true, Step: 83, Epoch: 0.5, Starved: 0.82}, []string{
			"loading-bound: without waiting for data, an epoch would take 83.0 ms instead of 0.50 s; the loader is slower than the loop",
			"the epoch took 0.50 s: the loop alone 83.0 ms, what 24 workers did was not measured",
			"the loop waited for data for 82 % of the epoch",
		}},
		{"a loop that loads, of which only the waiting is known", Costs{Loop: true, Step: 100, Epoch: 0.5, Starved: 0.8}, []string{
			"loading-bound: without waiting for data, an epoch would take 100 ms instead of 0.50 s", "loading was not measured",
		}},
		{"a loop that loads as long as it computes", Costs{Cores: 2, Parts: parts, Loop: true, Step: 1000, Epoch: 1.95, Starved: 0.49}, []string{
			"num_workers=0: the loop loads each batch itself, and computes nothing meanwhile; with workers, an epoch would take 1.00 s instead of 1.95 s",
		}},
		{"a loop that loads, and computes far longer", Costs{Cores: 2, Parts: parts, Loop: true, Step: 6000, Epoch: 7.2, Starved: 0.15}, []string{
			"compute-bound", "num_workers=0: the loop loads each batch itself, and computes nothing meanwhile, so workers alone would save 14 %",
		}},
		{"a GPU that decodes", Costs{Workers: 16, GPU: true, Loop: true, Step: 80, Epoch: 0.12, Starved: 0.29}, []string{
			"loading-bound: without waiting for data, an epoch would take 80.0 ms instead of 0.12 s",
			"how long the GPU takes to decode beside the loop was not measured: compare with the CPU's decoder",
		}},
		{"a loop that does not wait for an unknown loader", Costs{Workers: 24, Loop: true, Step: 400, Epoch: 0.42, Starved: 0.03}, []string{
			"compute-bound: the loop's own step takes the time, and it hardly waits for data", "what 24 workers did was not measured",
		}},
		{"waiting that the parts do not explain", Costs{Workers: 2, Cores: 2, Parts: parts, Loop: true, Step: 600, Epoch: 2, Starved: 0.7}, []string{
			"loading-bound: without waiting for data, an epoch would take 0.60 s instead of 2.00 s",
			"the measured parts explain an epoch of 0.60 s: see when the loop waits, by dsconv bench --html",
		}},
		{"swapping", Costs{Workers: 1, SwapStall: 900, SwapIn: 52e6, Parts: []Part{{Name: "decode", Kind: Decode, Wall: 1000, CPU: 100}}}, []string{
			"swapping: without waiting for memory to be read back, an epoch would take 100 ms instead of 1.00 s",
			"loading waited 900 us an image for memory to be read back, 52.0 MB from swap",
		}},
		{"queues", Costs{Workers: 8, Cores: 1, Parts: []Part{{Name: "decode", Kind: Decode, Wall: 8000, CPU: 1000, Queue: 7000}}}, []string{
			"short of CPU: 8 workers share 1 core", "loading waited for a core for 88 % of its time",
		}},
	} {
		c.c.Samples = 1000
		v := Judge(&c.c)
		said := v.Text + "\n" + strings.Join(v.Evidence, "\n")
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, said)
			}
		}
	}
}
