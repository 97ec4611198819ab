package reader

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

// torchJob is a batch that torchvision mixes too.
type torchJob struct {
	name   string
	folder string
	mixed  *Batch
}

// TestMixingAsTorchvision compares with torchvision.transforms.v2, bit for bit, for the same
// share and part.
func TestMixingAsTorchvision(t *testing.T) {
	python := os.Getenv("DSCONV_TORCH_PYTHON")
	if python == "" {
		t.Skip("DSCONV_TORCH_PYTHON is not set")
	}
	var jobs []torchJob
	args := []string{filepath.Join("testdata", "mix.py")}
	for _, tt := range []struct {
		op    augment.Mixer
		dtype formats.DType
	}{
		{augment.MixUp{Alpha: 1}, formats.Float32},
		{augment.MixUp{Alpha: 0.2}, formats.Float16},
		{augment.MixUp{Alpha: 3}, formats.BFloat16},
		{augment.CutMix{Alpha: 1}, formats.Uint8},
		{augment.CutMix{Alpha: 1}, formats.Float32},
		{augment.CutMix{Alpha: 0.5}, formats.Float16},
	} {
		for seed := range uint64(2) {
			j := newTorchJob(t, tt.op, tt.dtype, seed)
			jobs, args = append(jobs, j), append(args, j.folder)
		}
	}
	if out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, j := range jobs {
		j.compare(t, "mixed.bin", stored(t, j.mixed))
		j.compare(t, "soft.bin", littleEndian(t, j.mixed.Soft))
	}
}

// newTorchJob writes down a batch of epoch 0 and what the seed draws for it.
func newTorchJob(t *testing.T, op augment.Mixer, d formats.DType, seed uint64) torchJob {
	t.Helper()
	c := Config{BatchSize: 7, Seed: seed, DType: d, Layout: pixel.NCHW}
	if d != formats.Uint8 {
		c.Transforms = []augment.Op{augment.ImageNet}
	}
	apart, mixed := both(t, noisy(7, imageSide, imageSide+3), c, 0, op)
	b, how := apart[0], mixture(&c, 0, 0, []augment.Mixer{op})
	job := map[string]any{"dtype": d, "shape": b.Shape, "classes": 10, "op": "MixUp", "params": map[string]any{"lam": how.Share}}
	if p := how.Region; how.Cut {
		job["op"] = "CutMix"
		job["params"] = map[string]any{"box": [4]int{p.X, p.Y, p.X + p.W, p.Y + p.H}, "lam_adjusted": how.Share}
	}
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"job.json": text, "images.bin": stored(t, b), "labels.bin": littleEndian(t, Labels[int64](b))} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return torchJob{op.String() + " of " + string(d), dir, mixed[0]}
}

func (j *torchJob) compare(t *testing.T, name string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(j.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %s differs", j.name, name)
	}
}

// stored are the bytes of a batch's images.
func stored(t *testing.T, b *Batch) []byte {
	t.Helper()
	switch b.DType {
	case formats.Uint8:
		return Pixels[uint8](b)
	case formats.Float32:
		return littleEndian(t, Pixels[float32](b))
	}
	return littleEndian(t, Pixels[uint16](b))
}
