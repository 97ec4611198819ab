package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/internal/parity"
)

func parityFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "parity", Usage: "compare with what Pillow makes of `SRC`, the folder or dataset that was packed"},
		&cli.IntFlag{Name: "sample", Usage: "with --parity: compare `N` images, the same ones each time; 0 for all", Value: 200},
		&cli.StringFlag{Name: "python", Usage: "with --parity: `PROGRAM` is a Python that has Pillow", Value: "python3"},
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
