package trainer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/trainer"
)

// A small network learns to tell bright images from dark ones.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	for i := range 16 {
		putImage(filepath.Join(dir, "bright", fmt.Sprint(i, ".jpg")), uint8(200+i))
		putImage(filepath.Join(dir, "dark", fmt.Sprint(i, ".jpg")), uint8(20+i))
	}
	input, err := trainer.InputOf(trainer.ModelMLP)
	check(err)
	loader, err := dsconv.NewLoader(dir, reader.Config{
		BatchSize: 8, Shuffle: true, Color: input.Color, Layout: pixel.NHWC,
		Transforms: []augment.Op{augment.Resize{H: input.Size, W: input.Size}},
	})
	check(err)
	defer loader.Close()

	result, err := trainer.Run(context.Background(), loader, nil, trainer.Config{
		Model: trainer.ModelMLP, Epochs: 4,
		OnEpoch: func(e trainer.Epoch) { fmt.Println("epoch", e.Number, "of", e.Train.Samples, "images") },
	})
	check(err)
	last := result.Epochs[len(result.Epochs)-1]
	fmt.Println("learnt:", last.Train.Accuracy > 0.9)
	// Output:
	// epoch 1 of 32 images
	// epoch 2 of 32 images
	// epoch 3 of 32 images
	// epoch 4 of 32 images
	// learnt: true
}

// A loop of one's own, which keeps its state in a file.
func ExampleTrainer() {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	for i := range 8 {
		putImage(filepath.Join(dir, "images", "bright", fmt.Sprint(i, ".jpg")), uint8(200+i))
		putImage(filepath.Join(dir, "images", "dark", fmt.Sprint(i, ".jpg")), uint8(20+i))
	}
	loader, err := dsconv.NewLoader(filepath.Join(dir, "images"), reader.Config{BatchSize: 4, Shuffle: true})
	check(err)
	defer loader.Close()
	ctx, config := context.Background(), trainer.Config{Model: trainer.ModelMLP}
	network, err := trainer.New(config, loader.ImageShape(), len(loader.Classes()))
	check(err)
	defer network.Close()

	var progress trainer.Progress
	for batch, err := range loader.Epoch(ctx, 0) {
		check(err)
		switch _, err := network.Step(batch); {
		case errors.Is(err, trainer.ErrBatch):
			continue // it does not fit the network, which is as it was
		case errors.Is(err, trainer.ErrDiverged):
			log.Print(err) // start over with a lower Config.LearningRate
			return
		case err != nil:
			log.Print(err)
			return
		}
		progress.Steps++
		progress.State = loader.State(0, batch)
		if progress.Steps == 3 {
			break
		}
	}
	file := filepath.Join(dir, "checkpoint.safetensors")
	check(network.Save(file, progress))

	again, err := trainer.New(config, loader.ImageShape(), len(loader.Classes()))
	check(err)
	defer again.Close()
	resumed, err := again.Load(file)
	check(err)
	for batch, err := range loader.Resume(ctx, resumed.State) {
		check(err)
		_, err := again.Step(batch)
		check(err)
		resumed.Steps++
	}
	m, err := again.Evaluate(ctx, loader)
	check(err)
	fmt.Println(resumed.Steps, "steps,", m.Samples, "images,", again.Parameters(), "weights")
	// Output:
	// 4 steps, 16 images, 401730 weights
}

// A name that a user gave is checked before anything is loaded.
func ExampleInputOf() {
	_, err := trainer.InputOf("resnet50")
	fmt.Println(errors.Is(err, trainer.ErrUnknownModel), trainer.Models())
	// Output: true [cnn mlp]
}

// A GPU trains where there is one, by JAX's plugin for XLA.
func ExampleConfig() {
	config := trainer.Config{Backend: "xla:" + os.Getenv("XLA_PLUGIN")}
	network, err := trainer.New(config, [3]int{32, 32, 3}, 10)
	if errors.Is(err, trainer.ErrNoBackend) || errors.Is(err, trainer.ErrUnknownBackend) {
		log.Print(err)
		config = trainer.Config{Backend: "go"}
		network, err = trainer.New(config, [3]int{32, 32, 3}, 10)
	}
	check(err)
	defer network.Close()
}

func putImage(file string, grey uint8) {
	m := image.NewGray(image.Rect(0, 0, 32, 32))
	for i := range m.Pix {
		m.Pix[i] = grey
	}
	m.SetGray(0, 0, color.Gray{Y: 128})
	var b bytes.Buffer
	check(jpeg.Encode(&b, m, nil))
	check(os.MkdirAll(filepath.Dir(file), 0o755))
	check(os.WriteFile(file, b.Bytes(), 0o644))
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}
