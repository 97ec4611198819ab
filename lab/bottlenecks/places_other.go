//go:build !linux

package main

import (
	"context"
	"fmt"
)

func mountSlow(_, _ string) (func(), error) {
	return nil, fmt.Errorf("%w: FUSE is Linux's here", errNotHere)
}

func (p place) enter(_ context.Context, _ string, args []string) ([]string, func(), error) {
	if p != anywhere {
		return nil, nil, fmt.Errorf("%w: it needs Linux", errNotHere)
	}
	return args, func() {}, nil
}
