package main

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader/augment"
)

func planCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "say what packing a folder would bring: bytes, packing time, epoch time, pixels",
		ArgsUsage: "SRC...",
		Description: `Packs a sample of the images of SRC, what dsconv pack takes, in each size and encoding into a
temporary folder, which is removed, and loads it with the loader of bench. Prints for each:
the bytes of the whole dataset, the time of packing it, the time of an epoch, whether
the pixels stay the same, and after how many epochs the packing has paid. Nothing is enlarged, and what does not fit on the
disk, or as pixels in memory, is not measured.

Several folders and archives are one folder, and NAME=SRC puts one below the folder NAME. --labels,
--field, --boxes and the like are those of dsconv pack, and the commands of the table have them.

Examples:
   dsconv plan images/
   dsconv plan images/ --resize shorter:256 --resize none --encode jpeg:90 --encode raw
   dsconv plan train=train.tar val=val/ --field mask=masks/{key}.png

Augmentations:
   ` + strings.ReplaceAll(augment.Syntax, "\n", "\n   ") + "\n\n" + exitCodes,
		Flags: slices.Concat([]cli.Flag{
			&cli.IntFlag{Name: "sample", Usage: "try with `N` images, evenly spread; with fewer of large ones", DefaultText: "1000, or more of small ones"},
			&cli.StringFlag{Name: "format", Usage: "pack as `FORMAT`: lmdb, hdf5, shard or tfrecord", DefaultText: "lmdb"},
			&cli.StringSliceFlag{Name: "resize", Usage: "try `SIZE`, as pack takes it, or none; may be repeated", DefaultText: "what suits the loader"},
			&cli.StringSliceFlag{Name: "encode", Usage: "try `ENCODING`, as pack takes it; may be repeated", DefaultText: "what suits the loader"},
			&cli.IntFlag{Name: "rounds", Value: 3, Usage: "load each candidate `N` times"},
			&cli.StringFlag{Name: "dir", Usage: "write the samples into a temporary folder in `DIR`, on the disk of the dataset", DefaultText: "the system's"},
			&cli.StringFlag{Name: "layout", Usage: "`LAYOUT` of the batches: nchw or nhwc", DefaultText: "nchw"},
			&cli.StringFlag{Name: "consume", Usage: "let a consumer take at most `RATE`, such as 3000/s"},
			&cli.StringFlag{Name: "json", Usage: "write the plan to `FILE`; with - or without FILE (as the last word or before a flag) to standard output, without the table"},
			progressFlag(),
			&cli.BoolFlag{Name: "quiet", Usage: "no progress"},
		}, readFlags("SRC"), sourceFlags("dsconv pack --help", ""),
			loaderFlags("64", "224", "rrc:SIZE,flip,normalize", "float32")),
		Action: func(cc *cli.Context) error {
			sources, err := argumentsOrMore(cc, "SRC")
			if err != nil {
				return err
			}
			o, err := planOptions(cc)
			if err != nil {
				return usageError{err}
			}
			if err := planSources(cc, c, sources, &o); err != nil {
				return err
			}
			return runPlan(cc, c, strings.Join(sources, ", "), o)
		},
	}
}

func planOptions(cc *cli.Context) (o plan.Options, err error) {
	if err := positive(cc, "sample", "rounds"); err != nil {
		return o, err
	}
	o = plan.Options{Sample: cc.Int("sample"), Rounds: cc.Int("rounds"), Format: cc.String("format"), Dir: cc.String("dir")}
	if o.Bench, err = loadOptions(cc); err != nil {
		return o, err
	}
	if err := planGrid(cc, &o); err != nil {
		return o, err
	}
	return o, o.Validate()
}

// planSources sets how the sources are opened.
func planSources(cc *cli.Context, c *console, sources []string, o *plan.Options) error {
	cfg, err := sourceConfig(cc, sources[0])
	if err != nil {
		return err
	}
	read, err := readOptions(cc)
	if err != nil {
		return err
	}
	cfg.Stdin = c.in
	o.Sources, o.Reading = sources, readingWords(cc)
	o.Open = func(ctx context.Context, _ string) (formats.Dataset, error) {
		return openSources(ctx, sources, cfg, read)
	}
	return nil
}

// planGrid reads --resize and --encode.
func planGrid(cc *cli.Context, o *plan.Options) error {
	for _, text := range cc.StringSlice("resize") {
		var r preprocess.Resize
		if text != "none" {
			if err := r.UnmarshalText([]byte(text)); err != nil {
				return err
			}
		}
		o.Resizes = append(o.Resizes, r)
	}
	for _, text := range cc.StringSlice("encode") {
		var e codec.EncodeOptions
		if err := e.UnmarshalText([]byte(text)); err != nil {
			return err
		}
		o.Encodings = append(o.Encodings, e)
	}
	return nil
}

func runPlan(cc *cli.Context, c *console, src string, o plan.Options) error {
	if file := cc.String("json"); file != "" {
		out := benchOutput{flag: "json", ours: isPlan, name: "plan of dsconv"}
		if err := out.check(file); err != nil { // before anything is measured
			return err
		}
	}
	show, err := c.planProgress(cc, src)
	if err != nil {
		return err
	}
	o.Progress = show
	p, err := plan.Run(cc.Context, src, o)
	if err != nil {
		return err
	}
	return writePlan(c, p, cc.String("json"))
}

// isPlan reports whether f is the JSON of a plan.
func isPlan(f io.Reader) bool {
	var p plan.Plan
	return json.NewDecoder(f).Decode(&p) == nil && p.Source.Path != ""
}

// writePlan prints the table, and writes the JSON to a file if one is named.
func writePlan(c *console, p *plan.Plan, file string) error {
	if file == "-" {
		return c.json(p)
	}
	if err := c.printTable(p.WriteTable); err != nil || file == "" {
		return err
	}
	return durable.WriteJSON(file, p)
}

// planProgressJSON is a line of --progress json of plan, after each step.
type planProgressJSON struct {
	Dataset string `json:"dataset"`
	Step    string `json:"step"`
	Done    int    `json:"done"`
	Total   int    `json:"total"`
}

// planProgress shows the steps of a plan as they end.
func (c *console) planProgress(cc *cli.Context, src string) (func(plan.Progress), error) {
	asJSON, err := progressAsJSON(cc)
	return func(p plan.Progress) {
		switch {
		case cc.Bool("quiet"):
		case asJSON:
			c.progressLine(planProgressJSON{Dataset: src, Step: p.Step, Done: p.Done, Total: p.Total})
		default:
			c.logf("%d of %d: %s", p.Done, p.Total, p.Step)
		}
	}, err
}
