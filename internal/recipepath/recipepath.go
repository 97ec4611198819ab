// Package recipepath keeps the paths in a dataset's recipe relative to the folder that the dataset is in, so
// that the dataset and the files can be moved together, and equal data give equal bytes.
package recipepath

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// The recipe's key Base says what its paths are relative to: dataset, the folder that the dataset is in. Recipes
// of earlier versions lack it: their paths are as the user gave them, relative to the folder that dsconv ran in.
const (
	Base    = "paths"
	dataset = "dataset"
)

// FolderLabels begins the keys of tables of labels for one folder of the source: labels:val.
const FolderLabels = "labels:"

// IsFolderLabels reports whether the recipe's key is that of a table for one folder.
func IsFolderLabels(key string) bool { return strings.HasPrefix(key, FolderLabels) }

// ForFolder divides a value FOLDER=FILE of annotations; folder is "" for a FILE alone. A file whose path has a "=" is
// written with ./ in front, or as an absolute path.
func ForFolder(value string) (folder, file string) {
	folder, file, ok := strings.Cut(value, "=")
	if !ok || folder == "" || folder[0] == '/' || strings.HasPrefix(folder, "./") || strings.HasPrefix(folder, "../") {
		return "", value
	}
	return strings.TrimRight(folder, "/"), file
}

// isKey reports whether the recipe's key is that of a path.
func isKey(key string) bool {
	return key == "labels" || key == "class-order" || key == "boxes" || key == "captions" || IsFolderLabels(key)
}

// isPath reports whether the value of one of keys is a path. A pattern of paths is relative to the source.
func isPath(value string) bool {
	return value != "" && value != "natural" && !strings.Contains(value, "{")
}

// Absolute returns the recipe with absolute paths. Its paths are relative to the current folder.
func Absolute(recipe map[string]string) map[string]string {
	return Replace(recipe, func(path string) string {
		if abs, err := filepath.Abs(path); err == nil {
			return abs
		}
		return path
	})
}

// Relative returns the recipe of a dataset at the path, in which absolute paths are relative.
func Relative(recipe map[string]string, path string) map[string]string {
	changed := false
	to := Replace(recipe, func(file string) string {
		if !filepath.IsAbs(file) {
			return file // in a file system of a program
		}
		rel, err := relative(folderOf(path), file)
		if err != nil {
			return file
		}
		changed = true
		return filepath.ToSlash(rel)
	})
	if changed {
		to[Base] = dataset
	}
	return to
}

// Resolve returns the recipe of the dataset at the path with paths that can be opened, as Relative wants them.
func Resolve(recipe map[string]string, path string) map[string]string {
	if recipe[Base] != dataset {
		return Absolute(recipe)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // dsconv never writes through a link to a dataset
	}
	to := Replace(recipe, func(file string) string {
		if filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(withoutLinks(folderOf(path)), filepath.FromSlash(file))
	})
	delete(to, Base)
	return to
}

// WithoutRelative returns the recipe without the paths that are relative to a dataset, whose path is unknown.
func WithoutRelative(recipe map[string]string) map[string]string {
	if recipe[Base] != dataset {
		return recipe
	}
	to := maps.Clone(recipe)
	delete(to, Base)
	for key, value := range recipe {
		Replace(map[string]string{key: value}, func(file string) string {
			if !filepath.IsAbs(file) {
				delete(to, key)
			}
			return file
		})
	}
	return to
}

// Replace returns a copy of the recipe with other paths.
func Replace(recipe map[string]string, path func(string) string) map[string]string {
	to := maps.Clone(recipe)
	for key, value := range recipe {
		if !isKey(key) || value == "" {
			continue
		}
		lines := strings.Split(value, "\n") // some have a path in each line
		for i, line := range lines {
			if isPath(line) {
				lines[i] = replaceIn(key, line, path)
			}
		}
		to[key] = strings.Join(lines, "\n")
	}
	return to
}

// replaceIn replaces the path in a line of the key's value.
func replaceIn(key, line string, path func(string) string) string {
	if key != "boxes" && key != "captions" {
		return path(line)
	}
	folder, file := ForFolder(line)
	to := path(file)
	if folder != "" {
		return folder + "=" + to
	}
	if in, _ := ForFolder(to); in != "" {
		return "./" + to
	}
	return to
}

// folderOf returns the absolute path of the folder that the dataset at path is in.
func folderOf(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	return filepath.Dir(abs)
}

// relative returns the path of file relative to folder, so that it leads there also if folder has links in
// its path. It keeps links below the common folder: they may move together.
func relative(folder, file string) (string, error) {
	real := withoutLinks(folder)
	rel, err := filepath.Rel(folder, file)
	if err == nil && (real == folder || sameFile(filepath.Join(real, rel), file)) {
		return rel, nil
	}
	return filepath.Rel(real, filepath.Join(withoutLinks(filepath.Dir(file)), filepath.Base(file)))
}

// withoutLinks returns the path of a folder, of which the end may not exist yet, without links.
func withoutLinks(folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		return real
	}
	if up := filepath.Dir(folder); up != folder {
		return filepath.Join(withoutLinks(up), filepath.Base(folder))
	}
	return folder
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
