package reader_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// A training that was stopped in the middle of an epoch goes on with the samples that are left.
func ExampleLoader_Resume() {
	ctx := context.Background()
	loader, err := reader.New(squares{}, reader.Config{BatchSize: 3, Shuffle: true, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	var saved []byte // beside the model's weights
	for batch, err := range loader.Epoch(ctx, 0) {
		if err != nil {
			log.Print(err)
			return
		}
		if saved, err = json.Marshal(loader.State(0, batch)); err != nil {
			log.Print(err)
		}
		break // the machine goes down
	}

	var state reader.State
	if err := json.Unmarshal(saved, &state); err != nil {
		log.Print(err)
		return
	}
	fmt.Println(loader.Left(state), "batches are left")
	for batch, err := range loader.Resume(ctx, state) {
		if err != nil {
			log.Print(err)
			return
		}
		fmt.Println(batch.N)
	}
	// Output:
	// 3 batches are left
	// 3
	// 3
	// 1
}

// Two datasets with the same classes are loaded as one, here without shuffling.
func ExampleNewConcat() {
	parts := []reader.Part{
		{Dataset: squares{}, Name: "squares"},
		{Dataset: squares{}, Name: "squares again"},
	}
	loader, err := reader.NewConcat(parts, reader.Config{BatchSize: 8})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background(), 0) {
		if err != nil {
			log.Print(err)
			return
		}
		fmt.Println(batch.Indices)
	}
	// Output:
	// [0 1 2 3 4 5 6 7]
	// [8 9 10 11 12 13 14 15]
	// [16 17 18 19]
}

// Two views of each image, each with draws of its own, as SimCLR needs them.
func ExampleViewPixels() {
	train := augment.Train(224)
	config := reader.Config{BatchSize: 256, Shuffle: true, Views: []augment.Ops{train, train}}
	loader, err := reader.New(squares{}, config)
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background(), 0) {
		if err != nil {
			log.Print(err)
			return
		}
		first, second := reader.ViewPixels[uint8](batch, 0), reader.ViewPixels[uint8](batch, 1)
		fmt.Println(batch.Views(), len(first) == len(second), batch.ViewShape(1), len(reader.Labels[int64](batch)))
	}
	// Output:
	// 2 true [10 224 224 3] 10
}

// The caller decides which samples an epoch has, and how many each batch has.
func ExampleLoader_StartWith_sizes() {
	loader, err := reader.New(squares{}, reader.Config{BatchSize: 3, Synchronous: true})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	run, err := loader.StartWith(context.Background(), reader.RunOptions{
		List:  []int32{4, 0, 7, 7, 2},
		Sizes: []int32{2, 3},
	})
	if err != nil {
		log.Print(err)
		return
	}
	defer run.Stop()
	for {
		batch, err := run.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Print(err)
			return
		}
		fmt.Println(batch.Indices)
	}
	// Output:
	// [4 0]
	// [7 7 2]
}

// A batch that another goroutine uses is kept until that is done with it.
func ExampleBatch_Keep() {
	loader, err := reader.New(squares{}, reader.Config{BatchSize: 5})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	done, batches := make(chan int), make(chan *reader.Batch)
	go func() {
		sum := 0
		for batch := range batches {
			for _, label := range reader.Labels[int64](batch) {
				sum += int(label)
			}
			batch.Release()
		}
		done <- sum
	}()
	var last *reader.Batch // is the caller's own
	for batch, err := range loader.Epoch(context.Background(), 0) {
		if err != nil {
			log.Print(err)
			break
		}
		last = batch.Clone()
		batch.Keep()
		batches <- batch
	}
	close(batches)
	fmt.Println(<-done, "odd ones; the last label is", last.Label(last.N-1))
	// Output: 5 odd ones; the last label is 1
}

// A cache holds the samples as they are stored, or their pixels; all processes of the machine share it.
func ExampleLoader_CacheStats() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	loader, err := reader.New(squares{}, reader.Config{
		BatchSize: 5, Cache: reader.Cache{Kind: reader.Encoded, Limit: 1 << 20, Dir: dir},
	})
	if err != nil {
		log.Print(err)
		return
	}
	defer loader.Close()
	for epoch := range 2 {
		for _, err := range loader.Epoch(context.Background(), epoch) {
			if err != nil {
				log.Print(err)
				return
			}
		}
	}
	s := loader.CacheStats()
	fmt.Println(s.Samples, "samples;", s.Hits, "hits,", s.Misses, "misses,", s.Refused, "refused")
	if s.Used > s.Limit || s.Full != "" {
		fmt.Println("the cache holds no more:", s.Full)
	}
	// Output: 10 samples; 10 hits, 10 misses, 0 refused
}

// boxed has boxes beside each image: one in the first, two in the second, and so on.
type boxed struct{ squares }

func (boxed) Meta() *formats.Meta {
	m := squares{}.Meta()
	m.Schema = append(m.Schema, formats.Field{Name: "boxes", Kind: formats.Boxes})
	return m
}

func (boxed) Read(i int, s *formats.Sample) error {
	if err := (squares{}).Read(i, s); err != nil {
		return err
	}
	s.Resize(3)
	boxes := make([]byte, (i+1)*4*4)
	binary.LittleEndian.PutUint32(boxes[8:], 0x3f800000) // x from 0 to 1
	s.Values[2].Set(formats.Value{Data: boxes, Encoding: formats.Raw, DType: formats.Float32, Shape: []int{i + 1, 4}})
	return nil
}

// Values of extra fields may have a shape each.
func ExampleField() {
	loader, err := reader.New(boxed{}, reader.Config{BatchSize: 3, Fields: []string{"boxes"}})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	for batch, err := range loader.Epoch(context.Background(), 0) {
		if err != nil {
			log.Print(err)
			return
		}
		boxes := &batch.Fields[0]
		numbers := reader.Elements[float32](boxes.Data) // of all images
		first := boxes.Offsets[1] / 4
		fmt.Println(boxes.Shapes, len(numbers), "numbers, of the first image", numbers[:first], len(boxes.Value(0)), "bytes")
		break
	}
	// Output: [[1 4] [2 4] [3 4]] 24 numbers, of the first image [0 0 1 0] 16 bytes
}

// What an epoch will take is known before one runs.
func ExampleLoader_Estimate() {
	loader, err := reader.New(squares{}, reader.Config{BatchSize: 5, Workers: 2, Prefetch: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	m, err := loader.Estimate(context.Background())
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(m.Batches >= m.BatchBytes, m.Total() >= m.Workers+m.Batches)
	// Output: true true
}
