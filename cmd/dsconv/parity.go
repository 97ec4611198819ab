package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/verify/parity"
)

func parityFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "parity", Usage: "compare with what Pillow makes of `SRC`, the folder or dataset that was packed"},
		&cli.IntFlag{Name: "sample", Usage: "with --parity: compare `N` images, the same ones each time; 0 for all", Value: 200},
		&cli.StringFlag{Name: "python", Usage: "with --parity: the Python that has Pillow", Value: "python3"},
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
	f, err := detectFormat(path)
	if err != nil {
		return err
	}
	if f.Name() == "folder" {
		return usageErrorf("%s is a folder and was not packed: the source follows --parity, the dataset comes after it", path)
	}
	dst, err := f.Open(path)
	if err != nil {
		return err
	}
	defer dst.Close()
	src, err := openSource(cc.Context, cc.String("parity"), folderConfig(dst.Meta()))
	if err != nil {
		return err
	}
	defer src.Close()
	found, err := parity.Run(cc.Context, src, dst, parity.Options{
		Python: cc.String("python"), Sample: cc.Int("sample"), Workers: cc.Int("workers"),
	})
	if err != nil {
		return err
	}
	if cc.Bool("json") {
		err = c.json(found)
	} else {
		printCertificate(c, found)
	}
	if err == nil && !found.Equal {
		err = errors.New("not all pixels are Pillow's")
	}
	return err
}

func printCertificate(c *console, found *parity.Certificate) {
	var recipe []string
	for _, key := range slices.Sorted(maps.Keys(found.Recipe)) {
		recipe = append(recipe, key+" "+found.Recipe[key])
	}
	judge, ours := found.Judge, found.Dsconv
	c.printf("recipe   %s\n", strings.Join(recipe, ", "))
	c.printf("dsconv   %s %s, resampler %s\n", ours.Decoder, ours.DecoderVersion, ours.Resampler)
	c.printf("Pillow   %s, %s, Python %s", judge.Pillow, judge.JPEG, judge.Python)
	if judge.Torchvision != "" {
		c.printf("; torchvision %s", judge.Torchvision)
	}
	c.printf("\n\n%-12s %7s %7s %7s %7s %7s\n", "path", "images", "differ", "largest", "PSNR", "least")
	for _, p := range found.Paths {
		c.printf("%-12s %7d %7d %7d %7s %7s  %s\n", p.Name, p.Images, p.Differ, p.Largest, decibels(p.PSNR), decibels(p.MinPSNR), p.What)
	}
	c.printf("\n")
	for _, p := range found.Paths {
		printPath(c, p)
	}
	printKeys(c, "not in the source", found.Missing)
	printKeys(c, "another file than was packed, what is stored was not compared with it", found.Changed)
	for _, note := range found.Notes {
		c.printf("note: %s\n", note)
	}
	if found.Equal {
		end := "the pixels of every default path are Pillow's"
		if slices.ContainsFunc(found.Paths, func(p *parity.Path) bool { return len(p.NotJudged) > 0 }) {
			end = "no default path differs where this Pillow is a judge"
		}
		c.printf("%d of %d samples compared: %s\n", found.Chosen-len(found.Missing), found.Samples, end)
	}
}

// printPath says what the table does not hold.
func printPath(c *console, p *parity.Path) {
	if p.Allowed != "" && p.Differ > 0 {
		c.printf("%s may differ, %s: most %s, by %d of %d\n", p.Name, p.Allowed, printable(p.Worst), p.Largest, 1<<p.Bits-1)
	}
	if wrong := p.Verdict(); wrong != "" {
		c.printf("differs: %s\n", printable(wrong))
	}
	for _, why := range slices.Sorted(maps.Keys(p.NotJudged)) {
		c.printf("%s: %d images not judged: %s\n", p.Name, p.NotJudged[why], why)
	}
	var excused []string
	for _, r := range p.Refused {
		if r.Excused {
			excused = append(excused, fmt.Sprintf("%s (%s)", r.Key, r.Dsconv))
		}
	}
	printKeys(c, p.Name+": decoded by neither, or not supported", excused)
}

// maxKeys is how many keys a line names.
const maxKeys = 5

func printKeys(c *console, what string, keys []string) {
	if len(keys) == 0 {
		return
	}
	more := ""
	if n := len(keys) - maxKeys; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	c.printf("%s: %d: %s%s\n", what, len(keys), printable(strings.Join(keys[:min(len(keys), maxKeys)], ", ")), more)
}

func decibels(psnr *float64) string {
	if psnr == nil {
		return "equal"
	}
	return fmt.Sprintf("%.2f", *psnr)
}
