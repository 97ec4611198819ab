package main

import (
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/internal/durable"
)

// makeParents makes the folders that are missing above path. discard removes those that are still
// empty, if what should be written there was not begun.
func makeParents(path string) (discard func(), err error) {
	var made []string // the deepest first
	for dir := filepath.Dir(path); !durable.Exists(dir); dir = filepath.Dir(dir) {
		made = append(made, dir)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return func() {
		for _, dir := range made {
			if os.Remove(dir) != nil {
				return
			}
		}
	}, nil
}
