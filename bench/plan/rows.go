package plan

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench/verdict"
)

// plan is the result.
func (e *exploration) plan() *Plan {
	src := e.src
	b := &e.o.Bench
	loader := Loader{Batch: b.BatchSize, Workers: b.Workers, Augment: b.AugmentText, DType: string(b.DType), Consume: b.Consume}
	p := &Plan{Here: e.here, Options: *e.o, Loader: loader, Source: Source{
		Path: src.path, Format: src.ds.Meta().Format, Split: src.split, Images: int(src.count), Bytes: src.bytes,
		Loaded: len(src.loaded), Sampled: len(src.indices), EpochSeconds: e.as.costs.Epoch,
		ImagesPerSecond: rate(len(src.loaded), e.as.costs.Epoch), Costs: &e.as.costs,
	}}
	for _, t := range e.trials {
		p.Rows = append(p.Rows, e.rowsOf(t)...)
	}
	if len(e.bad) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("packing leaves bad images out, and names them: here %d of %d, such as %s: %s",
			len(e.bad), len(src.indices), e.bad[0].Path, e.bad[0].Cause))
	}
	return p
}

// rowsOf are the trial's rows: one for each format, or one that says why there is none.
func (e *exploration) rowsOf(t *trial) (rows []Row) {
	base := Row{
		Flags: t.flags, Resize: t.recipe.Resize.String(), Encode: t.recipe.Encode.String(), Lossless: lossless(t.recipe),
		PSNR: t.psnr, SSIM: t.ssim, Sampled: t.samples, PackSeconds: t.pack, Unfit: t.why,
	}
	for _, name := range e.o.Formats {
		row := base
		row.Format, row.Command = name, e.command(t, name)
		row.Disk = cmp.Or(t.disk[name], t.images)
		row.Extra = float64(row.Disk)/float64(max(e.src.bytes, 1)) - 1
		if t.why == "" {
			row.Costs = &t.costs
			row.EpochSeconds = verdict.Predict(&e.as.costs, &t.costs)
			row.ImagesPerSecond = rate(len(e.src.loaded), row.EpochSeconds)
			row.BreakEven = breakEven(t.pack, e.as.costs.Epoch, row.EpochSeconds)
		}
		rows = append(rows, row)
		if t.why != "" {
			break
		}
	}
	return rows
}

// command is the command that packs the source so.
func (e *exploration) command(t *trial, format string) string {
	words := []string{e.o.packCommand(e.src.path, "OUT"+suffixes[format])}
	if t.flags != "" {
		words = append(words, t.flags)
	}
	return strings.Join(words, " ")
}

// packCommand is the command that packs the source at path to dst.
func (o *Options) packCommand(path, dst string) string {
	words := []string{"dsconv pack"}
	for _, source := range o.words(path) {
		words = append(words, quote(source))
	}
	words = append(words, quote(dst))
	for _, word := range o.Reading {
		if !strings.HasPrefix(word, "--") {
			word = quote(word)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// words are the words for the source at path.
func (o *Options) words(path string) []string {
	if len(o.Sources) > 0 {
		return o.Sources
	}
	return []string{path}
}

// place is a path on the disk of the source at path.
func (o *Options) place(path string) string { return dsconv.SplitSources(o.words(path)[0])[0].Path }

// quote writes a path so that a shell reads it.
func quote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:=@%", r)
	}
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) && path[0] != '-' {
		return path
	}
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// noise is the share of an epoch below which a difference is none.
const noise = 0.03

// breakEven is the number of epochs after which a pack of so many seconds has paid, 0 if it never does.
func breakEven(pack, before, after float64) float64 {
	if after >= before*(1-noise) {
		return 0
	}
	return pack / (before - after)
}

func rate(images int, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(images) / seconds
}
