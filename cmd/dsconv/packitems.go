package main

import (
	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
)

// itemsFlag is for the Python package: the sockets of the processes that send samples, whose description is the standard input.
func itemsFlag() cli.Flag {
	return &cli.IntSliceFlag{Name: "items", Hidden: true, Usage: "pack what the processes at the other ends of the sockets `FD` send"}
}

// packItems is pack of samples that processes send.
func packItems(cc *cli.Context, c *console) error {
	args, err := arguments(cc, "DST")
	if err != nil {
		return err
	}
	o, err := parsePackFlags(cc, c)
	if err != nil {
		return err
	}
	closeGPU, err := o.openGPU(cc)
	if err != nil {
		return err
	}
	defer closeGPU()
	discard, err := makeParents(args[0])
	if err != nil {
		return err
	}
	r, err := dsconv.PackItems(cc.Context, c.in, cc.IntSlice("items"), args[0], o.packOptions())
	s := &summary{r}
	return asUsage(s.finish(c, err, o, discard))
}
