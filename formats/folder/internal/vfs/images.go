package vfs

import (
	"slices"
)

// ImagesIn lists the images and the folders in a folder, in the order of their names, without hidden ones.
func ImagesIn(in FS, dir string) (images, below []string, err error) {
	d, err := in.OpenFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	for {
		entries, err := d.Next()
		if err != nil {
			return nil, nil, err
		}
		if len(entries) == 0 {
			slices.Sort(images)
			slices.Sort(below)
			return images, below, nil
		}
		for _, e := range entries {
			name := e.Name()
			switch {
			case IsSystemName(name):
			case e.IsDir():
				below = append(below, name)
			case HasImageName(name):
				images = append(images, name)
			}
		}
	}
}
