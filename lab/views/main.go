// Command views times epochs with two views of each image beside epochs with one, in turns in one process, on
// photos that were packed unchanged and as tiled JPEGs:
//
//	views [--rounds 9] [--workers 2] [--ops rrc:224,flip,normalize] [--only REGEXP] [--json FILE] PHOTOS
//
// A view is a random crop of 224x224, flipped and normalised, in batches of float32 and, without normalize, of
// uint8. The ratio is the images per second with two views divided by those with one: 0.5 is what two decodes
// of each image would give.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/figures"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// options are the flags; the report holds them.
type options struct {
	Photos  string `json:"photos"`
	Rounds  int    `json:"rounds"`
	Workers int    `json:"workers"`
	Batch   int    `json:"batch"`
	Ops     string `json:"ops"`
	only    *regexp.Regexp
}

// result is one case: images per second of each round, and the median of the rounds' ratios.
type result struct {
	Encoding string        `json:"encoding"`
	DType    formats.DType `json:"dtype"`
	One      []float64     `json:"images_per_second_one_view"`
	Two      []float64     `json:"images_per_second_two_views"`
	Ratio    float64       `json:"ratio"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "views:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o := options{}
	flags := flag.NewFlagSet("views", flag.ContinueOnError)
	flags.IntVar(&o.Rounds, "rounds", 9, "epochs of each")
	flags.IntVar(&o.Workers, "workers", 2, "of the loader")
	flags.IntVar(&o.Batch, "batch", 64, "images per batch")
	flags.StringVar(&o.Ops, "ops", "rrc:224,flip,normalize", "of each view; without normalize for uint8")
	only := flags.String("only", "", "measure cases whose name, such as jpeg-tiled/uint8, matches this")
	file := flags.String("json", "", "write the report to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if o.Photos = flags.Arg(0); o.Photos == "" || o.Rounds < 1 {
		return fmt.Errorf("wanted a folder of photos and at least one round")
	}
	results, err := o.measure(context.Background())
	if err != nil || *file == "" {
		return err
	}
	return durable.WriteJSON(*file, map[string]any{"options": o, "results": results})
}

// measure packs the photos and measures all cases.
func (o *options) measure(ctx context.Context) (results []*result, err error) {
	dir, err := os.MkdirTemp("", "views")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, encoding := range []string{"keep", "jpeg-tiled"} {
		path := filepath.Join(dir, encoding+".lmdb")
		if err := pack(ctx, o.Photos, path, encoding); err != nil {
			return nil, err
		}
		for _, dtype := range []formats.DType{formats.Uint8, formats.Float32} {
			if !o.only.MatchString(encoding + "/" + string(dtype)) {
				continue
			}
			r := &result{Encoding: encoding, DType: dtype}
			if err := o.compare(ctx, path, r); err != nil {
				return nil, err
			}
			fmt.Printf("%-10s %-8s one view %6.0f images/s, two views %6.0f, ratio %.3f\n", encoding, dtype, figures.Median(r.One), figures.Median(r.Two), r.Ratio)
			results = append(results, r)
		}
	}
	return results, nil
}

func pack(ctx context.Context, photos, path, encoding string) error {
	recipe, err := preprocess.ParseRecipe(map[string]string{"encode": encoding})
	if err != nil {
		return err
	}
	var options dsconv.Options
	options.Recipe = recipe
	_, err = dsconv.Pack(ctx, photos, path, options)
	return err
}

// compare measures one case in turns, after an epoch of each that does not count.
func (o *options) compare(ctx context.Context, path string, r *result) error {
	text := o.Ops
	if r.DType == formats.Uint8 {
		text = strings.TrimSuffix(text, ",normalize")
	}
	ops, err := augment.Parse(text)
	if err != nil {
		return err
	}
	c := reader.Config{BatchSize: o.Batch, Workers: o.Workers, Shuffle: true, DType: r.DType, Layout: pixel.NCHW}
	one, two := c, c
	one.Transforms, two.Views = ops, []augment.Ops{ops, ops}
	loaders := make([]*reader.Loader, 2)
	for k, c := range []reader.Config{one, two} {
		if loaders[k], err = reader.Open(dsconv.Formats(), path, c); err != nil {
			return err
		}
		defer loaders[k].Close()
	}
	var ratios []float64
	for round := range o.Rounds + 1 {
		var speeds [2]float64
		for k, l := range loaders {
			if speeds[k], err = epoch(ctx, l, round); err != nil {
				return err
			}
		}
		if round > 0 {
			r.One, r.Two = append(r.One, speeds[0]), append(r.Two, speeds[1])
			ratios = append(ratios, speeds[1]/speeds[0])
		}
	}
	r.Ratio = figures.Median(ratios)
	return nil
}

// epoch is the images per second of an epoch.
func epoch(ctx context.Context, l *reader.Loader, number int) (float64, error) {
	start := time.Now()
	n := 0
	for b, err := range l.Epoch(ctx, number) {
		if err != nil {
			return 0, err
		}
		n += b.N
	}
	return float64(n) / time.Since(start).Seconds(), nil
}
