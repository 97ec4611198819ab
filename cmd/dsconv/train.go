package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/trainer"
)

func trainCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "train",
		Usage:     "train the reference network on a dataset",
		ArgsUsage: "DATASET",
		Description: "A dataset with splits is trained on train and evaluated on val (or valid, validation, test).\n" +
			"mlp sees 28x28 grey pixels (784-128-64-classes, Adam 1e-3); cnn sees 32x32 RGB.\n" +
			"Each epoch's line says how long the step waited for data and how long it computed.\n\n" +
			"Examples:\n   dsconv train out.lmdb --model cnn --epochs 5\n" +
			"   dsconv train out/train.lmdb --val out/val.lmdb --backend xla:/path/of/plugin.so\n\n" + exitCodes,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Value: "cnn", Usage: "mlp or cnn"},
			&cli.StringFlag{Name: "backend", Value: "go", Usage: "go, or xla:`PLUGIN` with the path of a PJRT plugin"},
			&cli.StringFlag{Name: "val", Usage: "`DATASET` to evaluate on", DefaultText: "the dataset's own split"},
			&cli.IntFlag{Name: "epochs", Value: 5, Usage: "passes over the training images"},
			&cli.IntFlag{Name: "batch", Usage: "images a batch", DefaultText: "64 for mlp, 32 for cnn"},
			&cli.IntFlag{Name: "size", Usage: "side of the network's input", DefaultText: "28 for mlp, 32 for cnn"},
			&cli.Float64Flag{Name: "lr", Usage: "learning rate", DefaultText: "the model's own"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of weights, order and augmentation"},
			&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "goroutines that read and decode", DefaultText: "the number of cores"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DATASET")
			if err != nil {
				return err
			}
			return train(cc, c, args[0])
		},
	}
}

func train(cc *cli.Context, c *console, path string) (err error) {
	model := cc.String("model")
	if !slices.Contains(trainer.Models(), model) {
		return usage("model %q: choose one of %v", model, trainer.Models())
	}
	ds, err := openSource(cc.Context, path, folder.Config{})
	if err != nil {
		return err
	}
	defer ds.Close()
	held := ds
	if cc.IsSet("val") {
		if held, err = openSource(cc.Context, cc.String("val"), folder.Config{}); err != nil {
			return err
		}
		defer held.Close()
	}
	learn, judge := splitsOf(ds.Meta()), splitsOf(held.Meta())
	trainLoader, err := reader.New(ds, loaderConfig(cc, model, learn.train, true))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, trainLoader.Close()) }()
	var val trainer.Loader
	if cc.IsSet("val") || judge.val != "" {
		l, err := reader.New(held, loaderConfig(cc, model, judge.val, false))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		val = l
	}
	return trainOn(cc, c, trainLoader, val)
}

// roles are the splits to learn from and to evaluate on; "" is the whole dataset, or for
// val that there is none.
type roles struct{ train, val string }

func splitsOf(m *formats.Meta) (r roles) {
	has := func(name string) bool {
		return slices.ContainsFunc(m.Splits, func(s formats.Split) bool { return s.Name == name })
	}
	if has("train") {
		r.train = "train"
	}
	for _, name := range []string{"val", "valid", "validation", "test"} {
		if has(name) {
			r.val = name
			break
		}
	}
	return r
}

func loaderConfig(cc *cli.Context, model, split string, learn bool) reader.Config {
	conf := reader.Config{
		BatchSize: cc.Int("batch"), Workers: cc.Int("workers"), Seed: cc.Uint64("seed"), Split: split, Shuffle: learn,
	}
	if conf.BatchSize == 0 {
		conf.BatchSize = map[string]int{"mlp": 64, "cnn": 32}[model]
	}
	size := cc.Int("size")
	if model == "mlp" {
		conf.Color = preprocess.ColorGray
		if size == 0 {
			size = 28
		}
	}
	if size == 0 {
		size = 32
	}
	switch {
	case model == "mlp":
		conf.Transforms = []augment.Op{augment.Resize{H: size, W: size}}
	case learn:
		// Crops of half to three quarters of the area: a network this small does not learn
		// from the slivers that a crop of 8 % can be.
		crop := augment.RandomResizedCrop{H: size, W: size, Scale: [2]float64{0.5, 0.75}, Ratio: [2]float64{0.9, 1.11}}
		conf.Transforms = []augment.Op{crop, augment.RandomHorizontalFlip{P: 0.5}}
	default:
		conf.Transforms = augment.Eval(size)
	}
	return conf
}

func trainOn(cc *cli.Context, c *console, learn, val trainer.Loader) error {
	conf := trainer.Config{
		Model: cc.String("model"), Backend: cc.String("backend"), Epochs: cc.Int("epochs"), LearningRate: cc.Float64("lr"), Seed: cc.Uint64("seed"),
	}
	asJSON := cc.Bool("json")
	result, err := trainer.Run(cc.Context, learn, val, conf, func(e trainer.Epoch) {
		if asJSON {
			return
		}
		c.printf("epoch %d: %.1f s (waited for data %.1f s, computed %.1f s), %.0f images/s, loss %.3f, accuracy %.1f %%",
			e.Number, e.Seconds, e.WaitSeconds, e.ComputeSeconds, e.ImagesPerSecond, e.Train.Loss, 100*e.Train.Accuracy)
		if e.Val != nil {
			c.printf("; held out: loss %.3f, accuracy %.1f %%", e.Val.Loss, 100*e.Val.Accuracy)
		}
		c.printf("\n")
	})
	if errors.Is(err, trainer.ErrUnknownBackend) || errors.Is(err, trainer.ErrUnknownModel) {
		return usageError{err}
	}
	if err == nil && asJSON {
		return c.json(result)
	}
	return err
}
