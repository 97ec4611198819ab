package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// learnConfig returns the loader of the training batches.
func learnConfig(cc *cli.Context) (conf reader.Config, err error) {
	if cc.IsSet("size") && cc.IsSet("augment") {
		return conf, errors.New("--size and --augment at once: write the size into the ops")
	}
	model := cc.String("model")
	conf = reader.Config{
		BatchSize: cc.Int("batch"), Workers: cc.Int("workers"), Seed: cc.Uint64("seed"), Split: cc.String("split"),
		DType: formats.DType(cc.String("dtype")),
	}
	if conf.DType != formats.Uint8 && conf.DType != formats.Float32 {
		return conf, fmt.Errorf("batches of %s: the trainer takes %s or %s", conf.DType, formats.Uint8, formats.Float32)
	}
	if err := setLoader(cc, &conf); err != nil {
		return conf, err
	}
	if conf.FastDecode, err = preprocess.ParseDecode(cc.String("decode")); err != nil {
		return conf, err
	}
	if conf.BatchSize == 0 {
		conf.BatchSize = map[string]int{"mlp": 64, "cnn": 32}[model]
	}
	if model == "mlp" {
		conf.Color = preprocess.ColorGray
	}
	if cc.IsSet("augment") {
		conf.Transforms, err = augment.Parse(cc.String("augment"))
		return conf, err
	}
	size := cc.Int("size")
	if size == 0 {
		size = map[string]int{"mlp": 28, "cnn": 32}[model]
	}
	conf.Transforms = learnOps(model, size)
	return conf, nil
}

// learnOps returns a model's default augmentations.
func learnOps(model string, size int) []augment.Op {
	if model == "mlp" {
		return []augment.Op{augment.Resize{H: size, W: size}}
	}
	// Crops of half to three quarters of the area: a network this small does not learn from crops
	// of 8 %.
	crop := augment.RandomResizedCrop{H: size, W: size, Scale: [2]float64{0.5, 0.75}, Ratio: [2]float64{0.9, 1.11}}
	return []augment.Op{crop, augment.RandomHorizontalFlip{P: 0.5}}
}

// judgeConfig returns the loader of the validation batches: in order, not augmented, with the shape
// (H,W,C) of the training batches.
func judgeConfig(model string, learn reader.Config, shape [3]int, split string) reader.Config {
	conf := learn
	conf.Split, conf.Order = split, order.Spec{}
	conf.Transforms = []augment.Op{augment.Resize{H: shape[0], W: shape[1]}}
	if model == "cnn" && shape[0] == shape[1] {
		conf.Transforms = augment.Eval(shape[0])
	}
	for _, op := range learn.Transforms {
		if n, ok := op.(augment.Normalize); ok {
			conf.Transforms = append(conf.Transforms, n)
		}
	}
	return conf
}

// recipeOf returns the loader's options that must not change when a training resumes.
func recipeOf(conf reader.Config) map[string]string {
	decode := "exact"
	if conf.FastDecode {
		decode = "fast"
	}
	return map[string]string{
		"--batch": strconv.Itoa(conf.BatchSize), "--augment": augment.Format(conf.Transforms),
		"--dtype": string(conf.DType), "--decode": decode, "--on-error": string(conf.OnError),
	}
}
