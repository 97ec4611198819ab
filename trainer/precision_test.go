package trainer

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/safetensors"
)

// With bf16 the products are rounded, so that the loss differs a little; weights and Adam's state stay float32.
func TestBF16(t *testing.T) {
	for _, model := range Models() {
		losses := map[Precision]float64{}
		for _, precision := range []Precision{FP32, BF16} {
			train, val, c := resumable(t, model, 0)
			c.Precision = precision
			r, err := Run(t.Context(), train, val, c)
			if err != nil {
				t.Fatal(err)
			}
			losses[precision] = r.Epochs[2].Val.Loss
			f, err := safetensors.Read(c.Checkpoint.Path)
			if err != nil {
				t.Fatal(err)
			}
			for _, tensor := range f.Tensors {
				if tensor.DType == "BF16" || strings.HasPrefix(tensor.Name, "model/") && tensor.DType != "F32" {
					t.Errorf("%s, %s: %s is %s", model, precision, tensor.Name, tensor.DType)
				}
			}
		}
		if d := math.Abs(losses[BF16] - losses[FP32]); d == 0 || d > 0.05*losses[FP32] {
			t.Errorf("%s: loss %v in bf16, %v in fp32", model, losses[BF16], losses[FP32])
		}
	}
}

// A training goes on in its own precision; a checkpoint of fp32 has no key for it, as before there was a choice.
func TestPrecisionStays(t *testing.T) {
	train, val, c := resumable(t, ModelMLP, 0)
	if _, err := Run(t.Context(), train, val, c); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Read(c.Checkpoint.Path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(f.Metadata[headerKey], "precision") {
		t.Errorf("a checkpoint of fp32 has %s", f.Metadata[headerKey])
	}
	c.Precision = BF16
	if _, err := Run(t.Context(), train, val, c); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "precision is fp32, not bf16") {
		t.Errorf("resumed in another precision: %v", err)
	}
	c.Checkpoint.Path = filepath.Join(t.TempDir(), "other")
	c.Precision = "fp8"
	if _, err := Run(t.Context(), train, val, c); err == nil || !strings.Contains(err.Error(), `"fp8": choose fp32 or bf16`) {
		t.Errorf("an unknown precision: %v", err)
	}
}
