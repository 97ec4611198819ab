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
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/outside"
)

// Source is one of several folders and archives that are read as one folder.
type Source struct {
	name string // the folder below which it is put; "" is the root
	Path string
}

// SplitSources returns the sources that a path stands for: "train=a.tar,val=b/" for two, each below the folder of its
// name. What exists as it stands is one path. A comma without NAME= after it is part of a file's name.
func SplitSources(path string) []Source {
	name, rest := splitSource(path)
	if name == "" {
		return []Source{{Path: path}}
	}
	sources := []Source{{name, rest}}
	for !durable.Exists(rest) {
		first, more, ok := cutSource(rest)
		if !ok {
			break
		}
		sources[len(sources)-1].Path = first
		name, rest, _ = strings.Cut(more, "=")
		sources = append(sources, Source{name, rest})
	}
	return sources
}

// cutSource cuts a list of sources before its second NAME=PATH.
func cutSource(list string) (first, rest string, ok bool) {
	for at, r := range list {
		if r != ',' {
			continue
		}
		if name, path, ok := strings.Cut(list[at+1:], "="); ok && name != "" && path != "" && !strings.ContainsAny(name, "/,") {
			return list[:at], list[at+1:], true
		}
	}
	return list, "", false
}

// splitAll returns what several sources of a caller stand for.
func splitAll(sources []string) (all []Source) {
	for _, source := range sources {
		all = append(all, SplitSources(source)...)
	}
	return all
}

// OpenSources opens several folders and archives as one folder of images, read as cfg says. "NAME=PATH" puts what is at
// PATH below the folder NAME: "train=ILSVRC2012_img_train.tar". Sources without a name are merged; it is an error, which
// names both, if two of them have an image of the same path. One source without a name may be anything that OpenSource
// opens.
//
// A source that another program wrote, which must be the only one, is read as o says. The format "archive" is for several
// too: archives that look like a WebDataset are then folders.
func OpenSources(ctx context.Context, sources []string, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	if len(sources) == 0 {
		return nil, wrongOptions{errors.New("dsconv.OpenSources: no source is given")}
	}
	closeLate := func(ds formats.Dataset) { _ = ds.Close() } // nobody waits for it
	return lifetime.Call(ctx, func() (formats.Dataset, error) { return openAll(ctx, splitAll(sources), cfg, o) }, closeLate)
}

func openAll(ctx context.Context, all []Source, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	if len(all) == 1 && all[0].name == "" {
		return openOne(ctx, all[0].Path, cfg, o)
	}
	asArchives := false
	if o.Format != "" {
		f, err := Formats().ByName(o.Format)
		if err != nil {
			return nil, wrongOptions{err}
		}
		asArchives = f.Name() == archiveName
	}
	if o.Format != "" && !asArchives || len(o.Map) > 0 {
		return nil, wrongOptions{errors.New("a map and a source's format, but archive, are for one source, and not for several or one with a name")}
	}
	mounts, err := openMounts(ctx, all, asArchives)
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

// splitsByName says how to give several splits at once of formats whose files' names are splits; they may be patterns.
var splitsByName = map[string]string{
	"webdataset": "; or put the tars of all splits into one folder, with names such as train-0000.tar and val-0000.tar, and give that",
	"tf-example": "; or put the files of all splits into one folder, with names such as train-00000-of-00010, and give that",
}

// openMounts opens the archives among the sources, with asArchives also those that look like datasets. With an error it
// returns those that are open.
func openMounts(ctx context.Context, sources []Source, asArchives bool) (mounts []folder.Mount, err error) {
	for _, source := range sources {
		name, path := source.name, source.Path
		if err := checkKind(path); err != nil {
			return mounts, err
		}
		f, err := Formats().ByExistingPath(path)
		switch {
		case err != nil:
			return mounts, err
		case f.Name() == archiveName, asArchives && f.Name() != "folder" && sourceExists(path):
			files, err := openTree(ctx, path, name != "")
			if err != nil {
				return mounts, err
			}
			mounts = append(mounts, folder.Mount{Name: name, Tree: files})
		case f.Name() == "folder":
			mounts = append(mounts, folder.Mount{Name: name, Path: path})
		case !durable.Exists(path) && splitsByName[f.Name()] == "":
			return mounts, formats.NotFound(path)
		default:
			return mounts, wrongOptions{fmt.Errorf("%s is a dataset of the format %s: only folders and archives can be packed together; dsconv merge joins datasets%s",
				path, f.Name(), orArchive(path)+splitsByName[f.Name()])}
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
	for _, source := range splitAll(sources) {
		path := source.Path
		if file, _ := archive.SplitPath(path); file != "" {
			path = file
		}
		if err := outside.Check(dst, path); err != nil {
			return wrongOptions{err}
		}
	}
	return nil
}
