package dsconv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/outside"
)

// OpenSources opens several folders and archives as one folder of images, read as cfg says. "NAME=PATH" puts what is at
// PATH below the folder NAME: "train=ILSVRC2012_img_train.tar". Sources without a name are merged; it is an error, which
// names both, if two of them have an image of the same path. One source without a name may be anything that OpenSource
// opens.
func OpenSources(ctx context.Context, sources []string, cfg folder.Config) (formats.Dataset, error) {
	return openSources(ctx, sources, cfg, formats.ReadOptions{})
}

func openSources(ctx context.Context, sources []string, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	switch {
	case ctx == nil:
		return nil, errNilContext("OpenSources")
	case len(sources) == 0:
		return nil, wrongOptions{errors.New("dsconv.OpenSources: no source is given")}
	}
	if name, path := splitSource(sources[0]); len(sources) == 1 && name == "" {
		return OpenSourceWith(ctx, path, cfg, o)
	}
	if o.Format != "" || len(o.Map) > 0 {
		return nil, wrongOptions{errors.New("a source's format and a map are for one source, and not for several or one with a name")}
	}
	mounts, err := openMounts(ctx, sources)
	if err != nil {
		for _, m := range mounts {
			if m.Tree != nil {
				err = errors.Join(err, m.Tree.Close())
			}
		}
		return nil, err
	}
	d, err := folder.OpenMounts(ctx, mounts, cfg)
	if err != nil {
		return nil, err // not d: a nil *folder.Dataset is not a nil Dataset
	}
	return d, nil
}

// openMounts opens the archives among the sources. With an error it returns those that are open.
func openMounts(ctx context.Context, sources []string) (mounts []folder.Mount, err error) {
	for _, source := range sources {
		name, path := splitSource(source)
		f, err := Formats().ByExistingPath(path)
		switch {
		case err != nil:
			return mounts, err
		case f.Name() == archiveName:
			files, err := openTree(ctx, path)
			if err != nil {
				return mounts, err
			}
			mounts = append(mounts, folder.Mount{Name: name, Tree: files})
		case f.Name() == "folder":
			mounts = append(mounts, folder.Mount{Name: name, Path: path})
		case !durable.Exists(path):
			return mounts, formats.NotFound(path)
		default:
			return mounts, wrongOptions{fmt.Errorf("%s is a dataset of the format %s: only folders and archives can be packed together; dsconv merge joins datasets", path, f.Name())}
		}
	}
	return mounts, nil
}

// splitSource splits NAME=PATH. What exists as it stands is a path, and so is what has a slash before the sign.
func splitSource(source string) (name, path string) {
	name, path, ok := strings.Cut(source, "=")
	if _, err := os.Lstat(source); err == nil || !ok || name == "" || path == "" || strings.Contains(name, "/") {
		return "", source
	}
	return name, path
}

// checkOutside returns an error if dst is one of the sources, or in one.
func checkOutside(dst string, sources []string) error {
	for _, source := range sources {
		_, path := splitSource(source)
		if file, _ := archive.SplitPath(path); file != "" {
			path = file
		}
		if err := outside.Check(dst, path); err != nil {
			return wrongOptions{err}
		}
	}
	return nil
}
