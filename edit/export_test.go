package edit

import (
	"context"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// PlanRemoval plans a Remove, whose run a test starts later.
func PlanRemoval(ctx context.Context, reg formats.Registry, path string, keys []string) (run func(context.Context) error, end func() error, err error) {
	t, err := open(reg, path)
	if err != nil {
		return nil, nil, err
	}
	p, _, err := t.planRemoval(ctx, func(i int) bool {
		in, err := t.Info(i)
		return err == nil && slices.Contains(keys, in.Key)
	}, new(Options).converting())
	return func(ctx context.Context) error {
		_, err := finish(ctx, p, t.format, path, t.Len(), &Options{})
		return err
	}, t.Close, err
}
