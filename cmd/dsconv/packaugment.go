package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/reader/augment"
)

// parseAugment parses --augment and the flags that need it.
func (o *writeOptions) parseAugment(cc *cli.Context) error {
	if !cc.IsSet("augment") {
		for _, flag := range []string{"copies", "copies-only"} {
			if cc.IsSet(flag) {
				return usageErrorf("--%s needs --augment OPS, such as --augment rrc:224,flip", flag)
			}
		}
		return nil
	}
	ops, err := augment.Parse(cc.String("augment"))
	if err != nil {
		return usageError{fmt.Errorf("--augment: %w", err)}
	}
	if len(ops) == 0 {
		return usageErrorf("--augment is empty: give operations, such as rrc:224,flip")
	}
	o.augment = dsconv.Augmentation{Ops: ops, Copies: 1, Seed: cc.Uint64("seed"), Only: cc.Bool("copies-only")}
	if cc.IsSet("copies") {
		o.augment.Copies = cc.Int("copies")
	}
	return nil
}
