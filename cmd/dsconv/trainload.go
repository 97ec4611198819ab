package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/trainer"
)

// learnConfig returns the loader of the training batches.
func learnConfig(cc *cli.Context) (c reader.Config, err error) {
	model := cc.String("model")
	input, err := trainer.InputOf(model)
	if err != nil {
		return c, err
	}
	if c, err = loaderConfig(cc); err != nil {
		return c, err
	}
	c.BatchSize, c.DType, c.Color = cmp.Or(c.BatchSize, input.Batch), cmp.Or(c.DType, formats.Uint8), input.Color
	if !cc.IsSet("augment") {
		c.Transforms = learnOps(model, cmp.Or(cc.Int("size"), input.Size))
	}
	return c, trainer.CheckDType(c.DType)
}

// modelDefaults are the models' batch and image sizes as help texts.
func modelDefaults() (batch, size string) {
	var batches, sizes []string
	for _, model := range trainer.Models() {
		if input, err := trainer.InputOf(model); err == nil {
			batches = append(batches, fmt.Sprintf("%d for %s", input.Batch, model))
			sizes = append(sizes, fmt.Sprintf("%d for %s", input.Size, model))
		}
	}
	return strings.Join(batches, ", "), strings.Join(sizes, ", ")
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
		"--batch": strconv.Itoa(conf.BatchSize), "--augment": conf.Transforms.String(),
		"--dtype": string(conf.DType), "--decode": decode, "--on-error": string(conf.OnError),
	}
}
