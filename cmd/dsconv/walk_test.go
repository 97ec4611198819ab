package main

import "io/fs"

func walk(root fs.FS, visit func(name string, data []byte)) error {
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		visit(name, data)
		return err
	})
}
