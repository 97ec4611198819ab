package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
)

func shardsCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:  "shards",
		Usage: "pack a dataset by many processes, on one machine or on many",
		Description: `Three steps make the dataset that dsconv pack makes on one machine, byte for byte:

   dsconv shards plan images/ 'out/train-%06d.tar' --shards 64 -o plan.json
   dsconv shards pack plan.json 0       # and 1, 2, ... 63: anywhere, in any order
   dsconv shards commit plan.json

The machines share a file system. Packing a shard may be killed, repeated, or done twice at once: the
first attempt that is complete counts. Until the commit, shards lie in DST.shards beside the dataset,
and nothing is at DST. docs/scale.md has the programs for Slurm, Kubernetes, Ray, Spark, Dask, Beam
and GNU parallel.

` + exitCodes,
		Subcommands: []*cli.Command{shardsPlanCommand(c), shardsPackCommand(c), shardsMissingCommand(c), shardsCommitCommand(c)},
		Action: func(cc *cli.Context) error {
			if cc.Args().Present() {
				return usageErrorf("unknown command %q: dsconv shards --help lists the commands", "shards "+cc.Args().First())
			}
			return usageErrorf("plan, pack, missing or commit is missing: see dsconv shards --help")
		},
	}
}

// notForPlans are the flags of pack that a plan has not: they say how a process works, depend on the machine, or replace a
// dataset.
var notForPlans = []string{"dry-run", "checkpoint", "workers", "io-workers", "decoder", "nvjpeg", "progress", "discard", "force"}

func shardsPlanCommand(c *console) *cli.Command {
	flags := slices.DeleteFunc(packFlags(), func(f cli.Flag) bool { return slices.Contains(notForPlans, f.Names()[0]) })
	return &cli.Command{
		Name:      "plan",
		Usage:     "list the images and fix which shard each is in",
		ArgsUsage: "SRC... DST",
		Description: `SRC, DST and the options are those of dsconv pack. DST is a pattern of tars or TFRecords, such as
'out/train-%06d.tar', or with --format a folder. The plan is a file of JSON, which names all paths absolutely; beside it lies
the list of the images, FILE.samples.zst. All processes must see them, SRC and DST at the same paths.

The plan stays true: images that are added to SRC later are not packed, and one that is changed or
removed is an error, which names it. The same command again changes nothing.

Examples:
   dsconv shards plan images/ 'out/train-%06d.tar' --shards 64 -o plan.json
   dsconv shards plan images/ 'out/train-%06d.tar' --resize shorter:256 --encode jpeg:90 --shard-size 500MB -o plan.json

` + exitCodes,
		Flags: append(flags,
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the plan to `FILE`"},
			&cli.BoolFlag{Name: "discard", Usage: "drop another plan in FILE or for DST, with the shards that were packed by it"},
		),
		Action: func(cc *cli.Context) error { return planShards(cc, c) },
	}
}

func planShards(cc *cli.Context, c *console) error {
	file := cc.String("output")
	if file == "" && cc.NArg() > 1 {
		return usageErrorf("--output FILE is missing: name the file for the plan, such as -o plan.json")
	}
	sources, dst, o, err := parsePack(cc, c)
	if err != nil {
		return err
	}
	discard, err := makeParents(dst)
	if err != nil {
		return err
	}
	p, err := dsconv.PlanShards(cc.Context, sources, dst, file, o.packOptions(), dsconv.ShardPlanOptions{Program: buildVersion(), Discard: cc.Bool("discard")})
	if err != nil {
		discard()
		return asUsage(err)
	}
	return printPlan(c, p, o, file)
}

func printPlan(c *console, p *dsconv.ShardPlan, o *writeOptions, file string) error {
	switch {
	case o.json:
		return c.json(p)
	case o.quiet:
		return nil
	}
	s := &summary{p.Report}
	for _, d := range p.Datasets {
		c.printf("%s: %d images in %d shard(s)\n", printable(d.Path), d.Samples, d.Shards)
	}
	s.printSplits(c, o.src)
	printLabels(c, s.Labels, s.LabelNotices, "")
	printFields(c, s.Fields, "")
	s.printNotices(c)
	c.printf("pack each shard, 0 to %d, anywhere: dsconv shards pack %s NUMBER\n", p.Shards-1, shellWord(file))
	c.printf("then publish the dataset: dsconv shards commit %s\n", shellWord(file))
	return nil
}

func shardsPackCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "pack",
		Usage:     "pack one shard of a plan",
		ArgsUsage: "PLAN NUMBER",
		Description: `Packs the shard of that number, from 0, unless it is there already, which is a success. It may be
repeated after a kill, and run twice at once. Bad images are treated as the plan says (--on-error); the commit counts and
lists them.

With --stop-with-stdin it stops when its standard input ends, and leaves nothing behind. A program that starts it with a
pipe, and keeps the other end open, can then be killed without leaving the work running.

Examples:
   dsconv shards pack plan.json 7 -j 4
   seq 0 63 | xargs -P 8 -n 1 dsconv shards pack -j 1 plan.json

` + exitCodes,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "again", Usage: "pack the shard also if it is there, and replace it"},
			&cli.BoolFlag{Name: "stop-with-stdin", Usage: "stop when standard input ends"},
			workersFlag("goroutines that decode and encode"),
			&cli.IntFlag{Name: "io-workers", Usage: "`N` goroutines that read", DefaultText: "4 or more; up to 32 if the disk is slow to answer"},
			memoryFlag(),
		}, resultFlags()...),
		Action: func(cc *cli.Context) error { return packShard(cc, c) },
	}
}

func packShard(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "PLAN", "NUMBER")
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(args[1])
	if err != nil {
		return usageErrorf("%q is not the number of a shard: give one from 0", args[1])
	}
	if err := positive(cc, "io-workers"); err != nil {
		return usageError{err}
	}
	show, err := newProgress(cc, c, imageWords)
	if err != nil {
		return err
	}
	ctx := cc.Context
	if cc.Bool("stop-with-stdin") {
		var stop func()
		if ctx, stop, err = untilEOF(ctx, c.in); err != nil {
			return err
		}
		defer stop()
	}
	r, err := dsconv.PackShard(ctx, args[0], number, dsconv.ShardOptions{
		Workers: cc.Int("workers"), IOWorkers: cc.Int("io-workers"), Memory: memory(cc), Again: cc.Bool("again"), Progress: show.show, Program: buildVersion(),
	})
	show.end()
	switch {
	case err != nil && cc.Err() == nil && ctx.Err() != nil:
		return fmt.Errorf("shard %d: stopped, since standard input has ended: the process that started the command is gone", number)
	case err != nil:
		return asUsage(err)
	case cc.Bool("json"):
		return c.json(r)
	case cc.Bool("quiet"):
		return nil
	case r.Report == nil:
		c.printf("shard %d: %s: %s\n", r.Shard, r.Outcome, printable(r.Path))
		return nil
	}
	c.printf("shard %d: %s: %d images, %s, skipped %d\n", r.Shard, r.Outcome, r.Report.Written, formatBytes(r.Report.BytesOut), len(r.Report.Skipped))
	return nil
}

func shardsMissingCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "missing",
		Usage:     "list the shards of a plan that are not there yet",
		ArgsUsage: "PLAN",
		Description: `Prints a number on each line, and nothing if all shards are there.

Example:
   dsconv shards missing plan.json | xargs -P 8 -n 1 dsconv shards pack -j 1 plan.json

` + exitCodes,
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "PLAN")
			if err != nil {
				return err
			}
			missing, err := dsconv.MissingShards(cc.Context, args[0])
			if err != nil {
				return err
			}
			for _, n := range missing {
				c.printf("%d\n", n)
			}
			return nil
		},
	}
}

func shardsCommitCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "commit",
		Usage:     "check all shards of a plan and publish the dataset",
		ArgsUsage: "PLAN",
		Description: `Checks that every shard is there, belongs to the plan, and has the bytes that were written; joins the
manifests and checksums; and publishes the dataset at once. The data files are linked, not copied, if the
file system can do that. Then the folder DST.shards is removed, with what attempts left. If anything is
missing or damaged, nothing is published, and the shards are named. It may be repeated, also after it is done.

Exit codes: 0 all images written, 3 some skipped, 1 failed, 2 wrong usage.`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "compare the sizes of the shards instead of reading them"},
			maxSkippedFlag(),
			workersFlag("goroutines that read the shards"),
			memoryFlag(),
		}, resultFlags()...),
		Action: func(cc *cli.Context) error { return commitShards(cc, c) },
	}
}

func commitShards(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "PLAN")
	if err != nil {
		return err
	}
	show, err := newProgress(cc, c, progressWords{unit: "shards", finish: "joining shards"})
	if err != nil {
		return err
	}
	done, err := dsconv.CommitShards(cc.Context, args[0], dsconv.CommitOptions{
		Quick: cc.Bool("quick"), MaxSkipped: cc.String("max-skipped"), Workers: cc.Int("workers"), Memory: memory(cc), Progress: show.show,
	})
	show.end()
	if err != nil {
		return asUsage(err)
	}
	if done.Left != nil {
		c.logf("%s", strings.Join(errorLines(done.Left), "\n"))
	}
	if done.Earlier && !cc.Bool("quiet") && !cc.Bool("json") {
		c.printf("committed already\n")
	}
	o := &writeOptions{json: cc.Bool("json"), quiet: cc.Bool("quiet"), src: strings.Join(done.Sources, ", ")}
	return (&summary{done.Report}).print(c, o)
}

// untilEOF returns a context that ends with ctx, or when the pipe in is at its end: its other end was closed, or the
// process that held it was killed. stop frees it. A goroutine reads in until the process ends.
func untilEOF(ctx context.Context, in io.Reader) (_ context.Context, stop func(), err error) {
	if f, ok := in.(*os.File); ok {
		st, err := f.Stat()
		if err != nil {
			return nil, nil, err
		}
		if st.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
			return nil, nil, usageErrorf("--stop-with-stdin: standard input is not a pipe: start the command with one, and keep its other end open")
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error is an end too
		cancel()
	}()
	return ctx, cancel, nil
}
