package dsconv_test

// The programs of docs/go.md and the README; docs_test.go compares. They are compiled, not run: examples/ runs.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
	"github.com/dsconv/dsconv/verify"
)

func guideOpen() error {
	ds, err := dsconv.Open("out.lmdb") // or a folder of images
	if err != nil {
		return err
	}
	defer ds.Close()
	for sample, err := range dsconv.Samples(ds) {
		if err != nil {
			return err
		}
		fmt.Println(sample.Key, sample.Values[0].Encoding, len(sample.Values[0].Data))
	}
	return nil
}

func guidePack(ctx context.Context) error {
	var o dsconv.Options
	o.Recipe.Resize = preprocess.Resize{Mode: preprocess.ResizeShorter, W: 256}
	o.Recipe.Encode.Encoding = formats.JPEG
	o.Progress = func(p convert.Progress) { log.Printf("%d of %d", p.Done, p.Total) }
	report, err := dsconv.Pack(ctx, "images", "out.lmdb", o)
	if errors.Is(err, context.Canceled) {
		log.Print("cancelled; the same call resumes")
	}
	fmt.Println(report.Found, report.Written, report.Skipped, report.Failed, report.NotReached)
	return err
}

func guideShards(ctx context.Context, o dsconv.Options) error {
	plan, err := dsconv.PlanShards(ctx, []string{"images"}, "out/train-%06d.tar", "plan.json", o, dsconv.ShardPlanOptions{})
	if err != nil {
		return err
	}
	for shard := range plan.Shards { // each on any machine, in any order, also twice
		if _, err := dsconv.PackShard(ctx, plan.File, shard, dsconv.ShardOptions{}); err != nil {
			return err
		}
	}
	done, err := dsconv.CommitShards(ctx, plan.File, dsconv.CommitOptions{})
	if err == nil {
		fmt.Println(done.Written)
	}
	return err
}

func guideImage(data []byte, out io.Writer) error {
	m, err := codec.Decode(data, codec.DecodeOptions{Region: pixel.Rect{X: 10, Y: 10, W: 64, H: 64}})
	if errors.Is(err, pixel.ErrTruncated) {
		return fmt.Errorf("the file is cut off: %w", err)
	}
	if err != nil {
		return err
	}
	m.Pix[0] = 255 // row by row, W*C bytes each
	return codec.Encode(out, m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 90})
}

func guideLoad(ctx context.Context, step func(pixels []float32, labels []int64)) error {
	loader, err := dsconv.NewLoader("out.lmdb", reader.Config{
		BatchSize: 64, Shuffle: true, Seed: 1, DType: formats.Float32, Layout: pixel.NCHW,
		Transforms: append(augment.Train(224), augment.ImageNet),
	})
	if err != nil {
		return err
	}
	defer loader.Close()
	for epoch := range 10 {
		for batch, err := range loader.Epoch(ctx, epoch) {
			if err != nil {
				return err
			}
			step(reader.Pixels[float32](batch), reader.Labels[int64](batch))
		}
	}
	return nil
}

func guideResume(ctx context.Context, loader *reader.Loader, epoch int, save func([]byte) error, saved []byte) error {
	for batch, err := range loader.Epoch(ctx, epoch) {
		if err != nil {
			return err
		}
		// your step
		state, err := json.Marshal(loader.State(epoch, batch))
		if err != nil {
			return err
		}
		if err := save(state); err != nil {
			return err
		}
	}
	// ... after a restart, perhaps with another WorldSize:
	var state reader.State
	if err := json.Unmarshal(saved, &state); err != nil {
		return err
	}
	for batch, err := range loader.Resume(ctx, state) {
		if err != nil {
			return err
		}
		_ = batch // the batches that are left
	}
	return nil
}

func guideFunc() augment.Ops {
	noise := augment.Func{Name: "noise", Apply: func(m *pixel.Image, r *random.Rand) error {
		for i, v := range m.Pix {
			m.Pix[i] = uint8(min(max(float64(v)+8*r.Normal(), 0), 255))
		}
		return nil
	}}
	return append(augment.Train(224), noise)
}

func guideCheck(ctx context.Context, a, b formats.Dataset) error {
	checked, err := verify.Run(ctx, dsconv.Formats(), "out.lmdb", verify.Options{})
	if err != nil {
		return err
	}
	fmt.Println(checked.Sound(), checked.Checked, "samples checked")

	compared, err := diff.Run(ctx, a, b, diff.Options{OnChange: func(c diff.Change) { fmt.Println(c.Kind, c.Key) }})
	if err != nil {
		return err
	}
	fmt.Println(compared.Common, "in both")

	removed, err := edit.Remove(ctx, dsconv.Formats(), "out.lmdb", []string{"cat/tom"}, edit.Options{DryRun: true})
	if err != nil {
		return err
	}
	fmt.Println(removed.Removed, "would be removed")
	return nil
}

// imageServer serves the images of one dataset; all requests share it.
type imageServer struct {
	ds      formats.Dataset
	samples sync.Pool // of *formats.Sample: each request has one for itself
}

func (s *imageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, err := formats.Find(s.ds, r.PathValue("key"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	sample, _ := s.samples.Get().(*formats.Sample)
	if sample == nil {
		sample = new(formats.Sample)
	}
	defer s.samples.Put(sample)
	if err := s.ds.Read(i, sample); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(sample.Values[s.ds.Meta().Schema.ImageIndex()].Data)
}

// squaresFormat opens files that end in .squares.
type squaresFormat struct{}

func (squaresFormat) Name() string                         { return "squares" }
func (squaresFormat) Match(path string) bool               { return strings.HasSuffix(path, ".squares") }
func (squaresFormat) Open(string) (formats.Dataset, error) { return newSquares(10), nil }

func guideFormat() (*reader.Loader, error) {
	all := append(formats.Registry{squaresFormat{}}, dsconv.Formats()...) // the folder comes last: it takes any directory
	return reader.Open(all, "ten.squares", reader.Config{BatchSize: 4})
}

var _ = []any{
	guideOpen, guidePack, guideShards, guideLoad, guideResume, guideImage, guideFunc, guideCheck, http.Handler(new(imageServer)), guideFormat,
}
