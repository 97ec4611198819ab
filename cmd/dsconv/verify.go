package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parity"
	"github.com/dsconv/dsconv/verify"
)

func verifyCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a dataset against its checksums, or its pixels against Pillow's",
		ArgsUsage: "DATASET",
		Description: "Reads every block of every file and compares it with its checksum, so every flipped bit is found.\n" +
			"Looks up every sample by its key, parses it and compares it with the manifest: order, label, size,\n" +
			"encoding, checksum. Damage is reported with file, offset and key. If many samples are damaged, the\n" +
			"first ones are listed, and all are counted by cause (--json lists all). A dataset that was copied or\n" +
			"renamed is checked under the present names of its files.\n\n" +
			"--quick reads no images: it checks the checksums file, the names and sizes of the files, the metadata,\n" +
			"and that no two records overlap.\n\n" +
			"--repair SRC restores damaged samples from the folder that the dataset was packed from, or from any\n" +
			"dataset with the same samples. If SRC does not give the bytes that were written, nothing is changed.\n" +
			"Only damaged files are written again; the dataset does not change until they are complete. A flipped\n" +
			"bit in dataset.json or checksums, and a missing checksums file, are restored without SRC. After a\n" +
			"rename it also updates the names in the index files for other programs.\n\n" +
			"--parity SRC checks no files. It decodes and resizes the images of SRC with dsconv, with Pillow, and\n" +
			"with torchvision if it is installed. For each way to load pixels it prints how many images differ, the\n" +
			"largest difference, and the PSNR in dB over all images and of the worst one. With default options the\n" +
			"difference is 0; with a lossy encoding it is the encoding's loss. --python names a Python 3.9 or later\n" +
			"with Pillow 13. The result does not depend on the number of workers.\n\n" +
			"Examples:\n   dsconv verify out.lmdb\n   dsconv verify out.lmdb --repair images/\n" +
			"   dsconv verify --parity images/ out.lmdb\n\n" +
			"Exit codes: 0 no damage, all damage repaired, or no difference; 1 damage or a difference; 2 wrong usage;\n" +
			"4 the check could not finish.",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "quick", Usage: "check the structure without reading images"},
			&cli.StringFlag{Name: "repair", Usage: "restore damaged samples from `SRC`"},
			nvjpegFlag("with --repair and --parity: `PATH` of libnvjpeg.so, if the dataset was packed with --decoder gpu"),
			&cli.BoolFlag{Name: "dry-run", Usage: "with --repair: print what would be restored, and change nothing"},
		}, resultFlags(), []cli.Flag{workersFlag("goroutines that read"), memoryFlag()}, []cli.Flag{
			&cli.StringFlag{Name: "parity", Usage: "compare with what Pillow makes of `SRC`, the folder or dataset that was packed"},
			&cli.IntFlag{Name: "sample", Usage: "with --parity: compare `N` images, the same ones each time; 0 for all", Value: 200},
			&cli.StringFlag{Name: "python", Usage: "with --parity: `PROGRAM` is a Python that has Pillow", Value: "python3"},
		}),
		Action: func(cc *cli.Context) error { return asCheck(asDamage(verifyDataset(cc, c))) },
	}
}

// asDamage makes an error about what is at the path, and is not what was written, the result of the check.
func asDamage(err error) error {
	if errors.Is(err, formats.ErrDamaged) || errors.Is(err, formats.ErrNotDataset) && !errors.Is(err, fs.ErrNotExist) {
		return foundError{err}
	}
	return err
}

// verifyResult is the output of --json.
type verifyResult struct {
	*verify.Report
	DryRun   bool           `json:"dry_run,omitempty"` // nothing was repaired: this is what would be done
	Repaired *edit.Repaired `json:"repaired,omitempty"`
}

func verifyDataset(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "DATASET")
	if err != nil {
		return err
	}
	if cc.String("parity") != "" {
		return compareWithPillow(cc, c, args[0])
	}
	if cc.IsSet("sample") || cc.IsSet("python") {
		return usageErrorf("--sample and --python are for --parity SRC")
	}
	from, dry := cc.String("repair"), cc.Bool("dry-run")
	if from == "" && (dry || cc.IsSet("memory")) {
		return usageErrorf("--dry-run and --memory are for --repair SRC")
	}
	show, err := newProgress(cc, c, progressWords{unit: "samples", finish: imageWords.finish})
	if err != nil {
		return err
	}
	o := verify.Options{Quick: cc.Bool("quick"), Workers: cc.Int("workers"), Progress: func(p verify.Progress) {
		show.show(convert.Progress{Path: args[0], Done: p.Done, Total: p.Total, BytesIn: p.Bytes, Elapsed: p.Elapsed})
	}}
	if o.Quick && from != "" {
		return usageErrorf("--quick does not find all damage that --repair restores: leave one of them out")
	}
	var described []string
	rebuilt := false
	if from != "" {
		if described, rebuilt, err = edit.RepairDescription(cc.Context, dsconv.Formats(), args[0], dry); err != nil {
			return err
		}
	}
	found, err := verify.Run(cc.Context, dsconv.Formats(), args[0], o)
	show.end()
	if errors.Is(err, verify.ErrNoChecksums) {
		return usageError{err}
	}
	if err != nil {
		return editError(err, false, args[0])
	}
	found.NoTable = found.NoTable || rebuilt // which has the checksums of damaged files too
	done := verifyResult{Report: found}
	if len(described) > 0 {
		done.Repaired, done.DryRun = &edit.Repaired{Description: described, Rewritten: []string{}}, dry
	}
	switch {
	case from == "", found.Sound() && len(found.Notes) == 0:
	case dry && len(described) > 0: // what else is damaged is not known before
	default:
		if done.Repaired, err = repair(cc, c, args[0], from, show, edit.RepairOptions{
			Options: edit.Options{Workers: o.Workers, Memory: memory(cc), DryRun: dry}, Found: found,
		}); err != nil {
			if !found.Sound() && cc.Err() == nil {
				err = foundError{err} // it is still damaged
			}
			return err
		}
		done.DryRun, done.Repaired.Description = dry, described
		if len(done.Repaired.Lost) == 0 && !dry {
			done.Report, err = verify.Run(cc.Context, dsconv.Formats(), args[0], o)
			show.end()
			if err != nil {
				return err
			}
		}
	}
	switch {
	case cc.Bool("json"):
		err = c.json(done)
	case !cc.Bool("quiet"):
		if done.DryRun {
			c.printf("nothing is changed; without --dry-run this would be done:\n")
		}
		done.print(c, o.Quick)
	}
	if err == nil && !done.Sound() {
		err = foundError{errors.New("the dataset is damaged")}
		if from == "" {
			err = foundError{errors.New("the dataset is damaged; restore it with dsconv verify --repair SRC")}
		}
	}
	return err
}

// maxLines is the most lines of one kind that are printed; --json lists all.
const maxLines = 20

func (v *verifyResult) print(c *console, quick bool) {
	if v.Repaired != nil {
		printRepaired(c, v.Repaired)
	}
	for _, s := range v.Dataset {
		c.printf("damaged: %s\n", printable(s))
	}
	printFirst(c, v.Blocks, maxLines, " damaged blocks (--json lists all)", func(b formats.Damage) string {
		return fmt.Sprintf("damaged: %s, bytes %d to %d: %s", printable(b.File), b.Offset, b.Offset+b.Length, b.Cause)
	})
	v.printSamples(c)
	if !v.Sound() {
		return
	}
	for _, s := range v.Notes {
		c.printf("note: %s\n", printable(s))
	}
	switch {
	case quick:
		c.printf("%d samples: files and metadata are undamaged; the images were not read\n", v.Checked)
	default:
		c.printf("%d samples and all files are undamaged\n", v.Checked)
	}
}

// printSamples prints the first damaged samples, and counts all by their cause. If all samples are
// damaged, it prints no names.
func (v *verifyResult) printSamples(c *console) {
	all := len(v.Samples) == v.Checked && len(v.Samples) > maxLines
	if !all {
		printFirst(c, v.Samples, maxLines, " damaged samples (--json lists all)", func(s verify.DamagedSample) string {
			return fmt.Sprintf("damaged sample: %s: %s", printable(s.Key), printable(s.Cause))
		})
	}
	if len(v.Samples) <= maxLines {
		return
	}
	if all {
		c.printf("all %d samples are damaged: are these the files of this dataset?\n", len(v.Samples))
	}
	causes := map[string]int{}
	for _, s := range v.Samples {
		causes[generalCause(s.Cause)]++
	}
	often := slices.SortedFunc(maps.Keys(causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(causes[b], causes[a]), cmp.Compare(a, b))
	})
	printFirst(c, often, maxLines, " causes (--json lists all)", func(cause string) string {
		return fmt.Sprintf("  %d samples: %s", causes[cause], printable(cause))
	})
}

var (
	numbers  = regexp.MustCompile(`\d+`)
	inQuotes = regexp.MustCompile(`"[^"]*"`)
)

// generalCause removes from a cause what is specific to one sample: its location, numbers and quoted
// text.
func generalCause(cause string) string {
	if in, rest, ok := strings.Cut(cause, ": "); ok && strings.HasPrefix(in, "in ") {
		cause = rest
	}
	return numbers.ReplaceAllString(inQuotes.ReplaceAllString(cause, `"..."`), "N")
}

// repair restores the damaged samples of the dataset at path from its source, or from any dataset with
// the same samples.
func repair(cc *cli.Context, c *console, path, from string, show *runProgress, o edit.RepairOptions) (*edit.Repaired, error) {
	m := o.Found.Meta
	if m == nil {
		m = &formats.Meta{} // edit.Repair says that it is lost
	}
	cfg, err := packedConfig(cc, path, m, from)
	if err != nil {
		return nil, err
	}
	src, err := openSource(cc, from, cfg)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	gpu, err := openEditGPU(cc, m)
	if err != nil {
		return nil, err
	}
	defer gpu.close()
	o.GPU = gpu.GPU
	o.Progress, o.Command = show.show, c.commandLine()
	r, err := edit.Repair(cc.Context, dsconv.Formats(), path, src, o)
	show.end()
	if err != nil {
		return nil, editError(gpu.explain(path, err), r != nil && !r.Published, path)
	}
	return &r.Repaired, nil
}

func printRepaired(c *console, r *edit.Repaired) {
	for _, name := range r.Description {
		c.printf("restored: %s\n", name)
	}
	printFirst(c, r.Restored, maxLines, " restored samples (--json lists all)", func(key string) string { return "restored: " + printable(key) })
	if r.Forgotten > 0 {
		c.printf("the list of %d samples removed by hand is lost: dsconv add will add them again\n", r.Forgotten)
	}
	printFirst(c, r.Lost, maxLines, " lost samples (--json lists all)", func(l edit.Lost) string { return fmt.Sprintf("lost: %s: %s", printable(l.Key), printable(l.Cause)) })
	switch {
	case len(r.Lost) > 0:
		c.printf("nothing was changed: %d samples cannot be restored from this source; remove them with dsconv rm, or use another source\n", len(r.Lost))
	case len(r.Description) > 0 && r.Rewritten != nil && len(r.Rewritten) == 0:
	case r.Rewritten == nil:
		c.printf("written again: all files\n")
	case len(r.Rewritten) == 0:
		c.printf("written again: the metadata; all data files are unchanged\n")
	default:
		c.printf("written again: %s\n", shortList(r.Rewritten, maxLines))
	}
}

// compareWithPillow is verify --parity.
func compareWithPillow(cc *cli.Context, c *console, path string) error {
	if cc.Bool("quick") || cc.String("repair") != "" {
		return usageErrorf("--parity compares pixels and neither checks nor repairs files: leave out --quick and --repair")
	}
	if cc.Int("sample") < 0 {
		return usageErrorf("--sample %d: write a number of images, or 0 for all", cc.Int("sample"))
	}
	f, err := detectFormat(cc.Context, path)
	if err != nil {
		return err
	}
	if f.Name() == "folder" || f.Name() == "archive" {
		return usageErrorf("%s is a folder and was not packed: the source follows --parity, the dataset comes after it", path)
	}
	dst, err := f.Open(path)
	if err != nil {
		return err
	}
	defer dst.Close()
	cfg, err := packedConfig(cc, path, dst.Meta(), cc.String("parity"))
	if err != nil {
		return err
	}
	src, err := openSource(cc, cc.String("parity"), cfg)
	if err != nil {
		return err
	}
	defer src.Close()
	gpu, err := openEditGPU(cc, dst.Meta())
	if err != nil {
		return err
	}
	defer gpu.close()
	if cc.IsSet("nvjpeg") && gpu.missing != nil { // otherwise the certificate has a note
		return gpu.missing
	}
	found, err := parity.Run(cc.Context, src, dst, parity.Options{
		GPU: gpu.GPU, Python: cc.String("python"), Sample: cc.Int("sample"), Workers: cc.Int("workers"),
	})
	if err != nil {
		return err
	}
	if cc.Bool("json") {
		err = c.json(found.Certificate)
	} else {
		c.printf("%s", found.Text)
	}
	if err == nil && !found.Equal {
		err = foundError{errors.New("not all pixels are Pillow's")}
	}
	return err
}
