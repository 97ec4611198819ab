package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/page"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// benchOutput is a form in which bench writes its report.
type benchOutput struct {
	flag  string
	write func(w io.Writer, r *bench.Report) error
	ours  func(f io.Reader) bool // reports whether a file is such a report
	name  string
}

const ofBench = "report of dsconv bench"

// benchOutputs are the flags of bench that name a file for the report.
var benchOutputs = []benchOutput{
	{"json", writeReport, func(f io.Reader) bool { _, err := bench.ReadReport(f); return err == nil }, ofBench},
	{"html", page.WriteHTML, isPage, ofBench},
}

func writeReport(w io.Writer, r *bench.Report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

func isPage(f io.Reader) bool {
	head := make([]byte, len(page.Mark))
	_, err := io.ReadFull(f, head)
	return err == nil && string(head) == page.Mark
}

// checkOutputs returns an error for files that the report must not be written to, before anything is measured.
func checkOutputs(cc *cli.Context) error {
	flags := map[string]string{} // by the file
	for _, o := range benchOutputs {
		file := cc.String(o.flag)
		if file == "" {
			continue
		}
		if onStdout(file) {
			file = "-"
		}
		if other := flags[file]; other != "" {
			return usageErrorf("--%s and --%s cannot both write to %s: give one of them another file", other, o.flag, file)
		}
		flags[file] = o.flag
		if err := o.check(file); err != nil {
			return err
		}
	}
	return nil
}

// onStdout reports whether a file is standard output.
func onStdout(file string) bool {
	fd, ok := durable.Descriptor(file)
	return file == "-" || ok && fd == 1
}

// check returns an error if another file than such a report is at the path: the dataset to measure, for instance.
func (o *benchOutput) check(file string) error {
	if err := durable.Check(file); err != nil || file == "-" {
		return err
	}
	if st, err := os.Stat(filepath.Dir(file)); err != nil || !st.IsDir() {
		return usageErrorf("--%s %s: there is no folder %s: make it first", o.flag, file, filepath.Dir(file))
	}
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
		return nil // writing it returns the error
	}
	if _, open := durable.Descriptor(file); open {
		return nil // what the shell opened
	}
	f, err := unblocked.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if !o.ours(f) {
		return usageErrorf("--%s %s: this file exists and is no %s: choose another name; - is standard output", o.flag, file, o.name)
	}
	return nil
}

// writeBench writes the report to the files that were asked for, and prints the table unless standard output is one of them.
func writeBench(cc *cli.Context, c *console, r *bench.Report) error {
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		return err
	}
	printed := true
	for _, o := range benchOutputs {
		printed = printed && !onStdout(cc.String(o.flag))
	}
	if printed {
		if err := printTo(c.out, "%s", table.String()); err != nil {
			return err
		}
	}
	for _, o := range benchOutputs {
		file := cc.String(o.flag)
		var err error
		switch {
		case file == "":
		case file == "-" && o.flag == "json":
			err = c.json(r)
		case file == "-":
			err = o.write(c.out, r)
		default:
			err = durable.Write(file, func(w io.Writer) error { return o.write(w, r) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}
