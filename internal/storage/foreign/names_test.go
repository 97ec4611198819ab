package foreign

import "testing"

func TestSplitOf(t *testing.T) {
	for name, want := range map[string]string{
		"train00-4": "train", "val00-2": "val", "train_01": "train", "train-part-0": "train", "train2017": "train", "imagenet1k-Validation": "validation",
		"toy-train": "train", "test-of-train": "train", "trained": "", "x": "", "00-4": "", "": "", "contest": "",
	} {
		if got := SplitOf(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestIsMask(t *testing.T) {
	for name, want := range map[string]bool{
		"mask": true, "segmentation_mask": true, "image_segmentation_class_encoded": true, "seg": true, "Mask": true, "a-mask": true,
		"masked": false, "image": false, "depth": false, "": false,
	} {
		if got := IsMask(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
