package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
	"github.com/dsconv/dsconv/trainer"
)

func trainCommand(c *console) *cli.Command {
	batch, size := modelDefaults()
	return &cli.Command{
		Name:      "train",
		Usage:     "train the reference network on a dataset",
		ArgsUsage: "DATASET",
		Description: `Trains on the split train and evaluates on val (or valid, validation, test), if the dataset
has them. mlp gets 28x28 grey pixels (784-128-64-classes, Adam 1e-3); cnn gets 32x32 RGB.
For each epoch it prints how long the steps waited for data and how long they computed.

With --checkpoint FILE the weights, Adam's state and the position in the epoch are written to
FILE at the end of each epoch, every N steps with --checkpoint-every, and on Ctrl-C. If FILE
exists, the training resumes from it with the remaining samples, and ends with the same
weights and results as an uninterrupted one. A finished training prints that it is finished;
a larger --epochs continues it, --discard starts over. The dataset's format, --workers,
--backend and --val may change, everything else must not. FILE is in the safetensors format.

--backend xla:PATH trains on XLA by the PJRT plugin at PATH, on an NVIDIA GPU for instance by JAX's: pip install
"jax[cuda13]" puts it into jax_plugins/xla_cuda13/ of its packages. CUDA_VISIBLE_DEVICES chooses the GPU; one is used.

Examples:
   dsconv train out.lmdb --model cnn --epochs 5
   dsconv train out.lmdb --epochs 90 --checkpoint run.safetensors --checkpoint-every 500
   dsconv train out/train.lmdb --val out/val.lmdb --backend xla:/path/of/xla_cuda_plugin.so

Augmentations:
   ` + strings.ReplaceAll(augment.Syntax, "\n", "\n   ") + "\n\n" + exitCodes,
		Flags: slices.Concat(readFlags("DATASET"), []cli.Flag{
			&cli.StringFlag{Name: "model", Value: "cnn", Usage: "`MODEL` to train: mlp or cnn"},
			&cli.StringFlag{Name: "backend", Value: "go", Usage: "`BACKEND` that computes: go, or xla:PATH with the path of a PJRT plugin"},
			&cli.StringFlag{Name: "val", Usage: "`DATASET` to evaluate on", DefaultText: "the dataset's own split"},
			&cli.IntFlag{Name: "epochs", Value: 5, Usage: "`N` passes over the training images"},
			&cli.Float64Flag{Name: "lr", Usage: "learning `RATE`", DefaultText: "the model's own"},
			&cli.StringFlag{Name: "checkpoint", Usage: "write the state of the training to `FILE`, and resume from it"},
			&cli.IntFlag{Name: "checkpoint-every", Usage: "write the checkpoint also every `N` steps", DefaultText: "at the end of an epoch only"},
			&cli.BoolFlag{Name: "discard", Usage: "start over although there is a checkpoint"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, loaderFlags(batch, size, "resize:SIZExSIZE for mlp; large crops of SIZE and flip for cnn", "uint8")),
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DATASET")
			if err != nil {
				return err
			}
			conf, err := trainConfig(cc)
			if err != nil {
				return usageError{err}
			}
			learn, err := learnConfig(cc)
			if err != nil {
				return usageError{err}
			}
			return train(cc, c, args[0], learn, conf)
		},
	}
}

// trainConfig parses the flags of the trainer; the checkpoint's recipe is set later.
func trainConfig(cc *cli.Context) (conf trainer.Config, err error) {
	if err := positive(cc, "epochs", "checkpoint-every"); err != nil {
		return conf, err
	}
	for _, n := range []string{"checkpoint-every", "discard"} {
		if cc.IsSet(n) && cc.String("checkpoint") == "" {
			return conf, fmt.Errorf("--%s needs --checkpoint", n)
		}
	}
	return trainer.Config{
		Model: trainer.Model(cc.String("model")), Backend: cc.String("backend"), Epochs: cc.Int("epochs"), LearningRate: cc.Float64("lr"), Seed: cc.Uint64("seed"),
		Checkpoint: trainer.Checkpointing{Path: cc.String("checkpoint"), Every: cc.Int("checkpoint-every"), Discard: cc.Bool("discard")},
	}, nil
}

func train(cc *cli.Context, c *console, path string, learn reader.Config, conf trainer.Config) (err error) {
	ds, err := openSource(cc, path, folder.Config{})
	if err != nil {
		return err
	}
	defer ds.Close()
	held := ds
	if cc.IsSet("val") {
		if held, err = openSource(cc, cc.String("val"), folder.Config{}); err != nil {
			return err
		}
		defer held.Close()
	}
	if learn.Split == "" {
		learn.Split = reader.TrainSplit(ds.Meta())
		warnOfSplits(c, ds.Meta(), learn.Split)
	}
	trainLoader, err := reader.New(ds, learn)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, trainLoader.Close()) }()
	var val trainer.Loader
	if split := reader.FirstSplit(held.Meta(), "val", "valid", "validation", "test"); cc.IsSet("val") || split != "" {
		l, err := reader.New(held, judgeConfig(trainer.Model(cc.String("model")), learn, trainLoader.ImageShape(), split))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		val = l
	}
	conf.Checkpoint.Recipe = recipeOf(learn)
	return trainOn(cc, c, trainLoader, val, conf)
}

// warnOfSplits warns that the training uses all splits, also those for evaluation.
func warnOfSplits(c *console, m *formats.Meta, split string) {
	left := m.Count
	var counts []string
	for _, s := range m.Splits {
		left -= s.Count
		counts = append(counts, fmt.Sprintf("%s (%d)", s.Name, s.Count))
	}
	if left > 0 {
		counts = append(counts, fmt.Sprintf("no split (%d)", left))
	}
	if split == "" && len(counts) > 1 {
		c.logf("warning: training on all splits: %s; to train on one, use --split NAME", strings.Join(counts, ", "))
	}
}

func trainOn(cc *cli.Context, c *console, learn, val trainer.Loader, conf trainer.Config) error {
	asJSON := cc.Bool("json")
	conf.Checkpoint.OnResume = func(p trainer.Progress) { c.logf("%s", resumed(p, &conf)) }
	conf.OnEpoch = func(e trainer.Epoch) {
		if !asJSON {
			c.printf("%s\n", epochLine(&e))
		}
	}
	result, err := trainer.Run(cc.Context, learn, val, conf)
	switch {
	case err == nil && asJSON:
		return c.json(result)
	case errors.Is(err, trainer.ErrUnknownBackend):
		return usageError{err}
	case errors.Is(err, trainer.ErrCheckpoint):
		return fmt.Errorf("%w; start over with --discard", err)
	case err != nil && result != nil && result.Steps > 0 && durable.IsFile(conf.Checkpoint.Path):
		c.logf("%s has the last checkpoint: repeat the command to resume", printable(conf.Checkpoint.Path))
	}
	return withSampleHint(err)
}

// resumed describes where a training resumes.
func resumed(p trainer.Progress, conf *trainer.Config) string {
	path, done := printable(conf.Checkpoint.Path), len(p.Epochs)
	if done >= conf.Epochs {
		return fmt.Sprintf("%s: the training is finished, %d epochs, step %d; continue it with a larger --epochs, or start over with --discard", path, done, p.Steps)
	}
	return fmt.Sprintf("%s: resumes in epoch %d, after %d images of it, step %d", path, done+1, p.State.Position, p.Steps)
}

func epochLine(e *trainer.Epoch) string {
	line := fmt.Sprintf("epoch %d: %.1f s (waited for data %.1f s, computed %.1f s), %.0f images/s, loss %.3f, accuracy %.1f %%",
		e.Number, e.Seconds, e.WaitSeconds, e.ComputeSeconds, e.ImagesPerSecond, e.Train.Loss, 100*e.Train.Accuracy)
	if e.Val != nil {
		line += fmt.Sprintf("; validation: loss %.3f, accuracy %.1f %%", e.Val.Loss, 100*e.Val.Accuracy)
	}
	return line
}

// learnConfig returns the loader of the training batches.
func learnConfig(cc *cli.Context) (c reader.Config, err error) {
	model := trainer.Model(cc.String("model"))
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
func learnOps(model trainer.Model, size int) []augment.Op {
	if model == trainer.ModelMLP {
		return []augment.Op{augment.Resize{H: size, W: size}}
	}
	// Crops of half to three quarters of the area: a network this small does not learn from crops
	// of 8 %.
	crop := augment.RandomResizedCrop{H: size, W: size, Scale: [2]float64{0.5, 0.75}, Ratio: [2]float64{0.9, 1.11}}
	return []augment.Op{crop, augment.RandomHorizontalFlip{P: 0.5}}
}

// judgeConfig returns the loader of the validation batches: in order, not augmented, with the shape
// (H,W,C) of the training batches.
func judgeConfig(model trainer.Model, learn reader.Config, shape [3]int, split string) reader.Config {
	conf := learn
	conf.Split, conf.Order = split, order.Spec{}
	conf.Transforms = []augment.Op{augment.Resize{H: shape[0], W: shape[1]}}
	if model == trainer.ModelCNN && shape[0] == shape[1] {
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
