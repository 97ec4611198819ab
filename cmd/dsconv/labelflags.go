package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/recipepath"
)

// parseLabels sets cfg.Labels and cfg.FolderLabels to the values of --labels: FILE, or FOLDER=FILE for one folder
// of the source. A file that exists is never taken for FOLDER=FILE.
func parseLabels(values []string, cfg *folder.Config) error {
	cfg.Labels, cfg.FolderLabels = "", nil
	for _, entry := range values {
		in, file, forFolder := strings.Cut(entry, "=")
		if !forFolder || fileExists(entry) {
			if cfg.Labels != "" {
				return fmt.Errorf("--labels %s and --labels %s are both for all of SRC: give FOLDER=FILE for one folder of it", cfg.Labels, entry)
			}
			cfg.Labels = entry
			continue
		}
		in = strings.TrimRight(in, "/")
		if before, twice := cfg.FolderLabels[in]; twice {
			return fmt.Errorf("--labels %s: there are two files for this folder, also %s", entry, before)
		}
		if in == "" || file == "" {
			return fmt.Errorf("--labels %s: give FILE, or FOLDER=FILE for one folder of SRC", entry)
		}
		if cfg.FolderLabels == nil {
			cfg.FolderLabels = map[string]string{}
		}
		cfg.FolderLabels[in] = file
	}
	return nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// packedLabels sets the files of labels of cfg to those that a dataset with this recipe was packed with.
func packedLabels(recipe map[string]string, cfg *folder.Config) {
	cfg.Labels, cfg.FolderLabels = recipe["labels"], nil
	for key, file := range recipe {
		if recipepath.IsFolderLabels(key) {
			if cfg.FolderLabels == nil {
				cfg.FolderLabels = map[string]string{}
			}
			cfg.FolderLabels[strings.TrimPrefix(key, recipepath.FolderLabels)] = file
		}
	}
}

// filesRead are the files that cfg names, by the recipe's keys.
func filesRead(cfg *folder.Config) map[string]string {
	files := map[string]string{"labels": cfg.Labels, "class-order": cfg.ClassOrder}
	for in, file := range cfg.FolderLabels {
		files[recipepath.FolderLabels+in] = file
	}
	return files
}

// flagOf returns the flag of a key of the recipe, and what precedes the file in its value.
func flagOf(key string) (flag, before string) {
	if recipepath.IsFolderLabels(key) {
		return "labels", strings.TrimPrefix(key, recipepath.FolderLabels) + "="
	}
	return key, ""
}
