package main

import (
	"cmp"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/internal/doctor"
)

func doctorCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "examine this machine: what dsconv uses, what limits it, what is switched off",
		ArgsUsage: "[DATASET...]",
		Description: `Prints the libraries in this build, the limits of processors, memory and open files, the GPU, the
Python packages that work with dsconv, and the disks that the datasets or folders lie on; the
current folder's too. Lines with "!" are warnings, and an arrow says what to do.
Nothing is written. A disk or program that does not answer within 10 seconds is said to hang.

Examples:
   dsconv doctor
   dsconv doctor --json /data/train.lmdb

Exit codes: 0 done, warnings included, 2 wrong usage.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print the lines as JSON"},
			&cli.StringFlag{Name: "python", Value: "python3", EnvVars: []string{"DSCONV_PYTHON"}, Usage: "examine the packages of this `PYTHON`"},
		},
		Action: func(cc *cli.Context) error {
			var paths []string
			if cc.Args().Present() {
				var err error
				if paths, err = argumentsOrMore(cc, "DATASET"); err != nil {
					return err
				}
			}
			python := cmp.Or(cc.String("python"), "python3") // the variable may be set and empty
			return printDiagnosis(c, doctor.Examine(cc.Context, version(), python, paths), cc.Bool("json"))
		},
	}
}

func printDiagnosis(c *console, lines []doctor.Line, asJSON bool) error {
	warnings, width := 0, 0
	for _, line := range lines {
		if line.Status == doctor.Warning {
			warnings++
		}
		width = max(width, min(len(printable(line.Name)), 24))
	}
	if asJSON {
		return c.json(struct {
			Warnings int           `json:"warnings"`
			Lines    []doctor.Line `json:"lines"`
		}{warnings, lines})
	}
	for _, line := range lines {
		mark := " "
		if line.Status == doctor.Warning {
			mark = "!"
		}
		c.printf("%s %-*s  %s\n", mark, width, printable(line.Name), printable(line.Value))
		if line.Advice != "" {
			c.printf("  %*s  -> %s\n", width, "", printable(line.Advice))
		}
	}
	if warnings > 0 {
		c.printf("%d warning(s)\n", warnings)
	}
	return nil
}
