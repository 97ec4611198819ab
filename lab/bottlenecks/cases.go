package main

import (
	"path/filepath"

	"github.com/dsconv/dsconv/bench/verdict"
)

// bottleneck is one that is really built into a loader, and what the verdict on it must be.
type bottleneck struct {
	name   string
	own    bool     // dsconv's own loader is measured; otherwise a user's DataLoader
	images string   // small, large, many, or slow: small ones behind a slow disk
	args   []string // of dsconv bench; the folder or --script is added
	python string   // with a DataLoader: the function of subject.py
	around place    // where the process runs
	cause  verdict.Cause
	part   string // that the verdict names; "" is any
}

// place is where a measured process runs.
type place string

const (
	anywhere  place = ""
	oneCore   place = "one core"
	lowMemory place = "half of the memory that it needs, and swap"
)

// bottlenecks are all of them: those of users' DataLoaders, then those of dsconv's loader.
// Workers of dsconv's loader are threads and stay, so that nothing can slow their start; and it has no data
// in memory that could be swapped out but its cache.
var bottlenecks = []bottleneck{
	{name: "slow read", python: "plain", images: "slow", cause: verdict.OfStorage},
	{name: "slow open() in the dataset", python: "slow_open", cause: verdict.OfStorage},
	{name: "slow decode", python: "plain", images: "large", cause: verdict.OfDecode},
	{name: "heavy Python augmentation", python: "heavy_transform", cause: verdict.OfPython, part: "Heavy"},
	{name: "slow collate", python: "collate", cause: verdict.OfCollate},
	{name: "slow consumer", python: "plain", args: []string{"--step=waiting_step"}, cause: verdict.OfCompute},
	{name: "slow consumer that computes", python: "plain", args: []string{"--step=computing_step"}, cause: verdict.OfCompute},
	{name: "slow transfer", python: "plain", args: []string{"--transfer=slow_transfer"}, cause: verdict.OfTransfer},
	{name: "too few cores", python: "many_workers", images: "many", around: oneCore, cause: verdict.OfCores},
	{name: "swapping", python: "in_memory", around: lowMemory, cause: verdict.OfSwap},
	{name: "slow worker start", python: "slow_start", cause: verdict.OfStart},

	{name: "slow read", own: true, images: "slow", cause: verdict.OfStorage},
	{name: "slow decode", own: true, images: "large", args: []string{"--augment=rrc:64,flip"}, cause: verdict.OfDecode},
	{name: "heavy augmentation", own: true, args: []string{"--augment=resize:400x300,blur:31,randaugment:ops=8,resize:64x64"}, cause: verdict.OfAugment},
	{name: "heavy Python augmentation", own: true, python: "dsconv_heavy_transform", cause: verdict.OfPython},
	{name: "slow consumer", own: true, args: []string{"--consume=50/s"}, cause: verdict.OfCompute},
	{name: "too few cores", own: true, images: "many", args: []string{"--workers=8"}, around: oneCore, cause: verdict.OfCores},
}

// key names the case on a line, and in --only.
func (b *bottleneck) key() string {
	if b.own {
		return b.name + " (dsconv's loader)"
	}
	return b.name + " (DataLoader)"
}

// folder is the one of its images, in the rig's scratch folder.
func (b *bottleneck) folder(scratch string) string {
	if b.images == "" {
		return filepath.Join(scratch, smallImages)
	}
	return filepath.Join(scratch, b.images)
}

// command is what measures it, after the program's name.
func (b *bottleneck) command(scratch, python, report string) []string {
	args := append([]string{"bench", "--rounds=1", "--quiet", "--json=" + report}, b.args...)
	if b.python != "" {
		return append(args, "--python="+python, "--script="+filepath.Join(scratch, subjectFile)+":"+b.python)
	}
	if !has(b.args, "--workers") {
		args = append(args, "--workers=2")
	}
	if !has(b.args, "--augment") {
		args = append(args, "--size=64")
	}
	// Ways to pack the folder are not in question.
	return append(args, "--batch=4", "--advise=false", b.folder(scratch))
}
