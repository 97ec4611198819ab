package vfs

import (
	"path"
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

// AllImages returns the paths of the images in a folder and below, relative to it, sorted.
func AllImages(in FS, folder string) ([]string, error) {
	var all []string
	pending := []string{""}
	for len(pending) > 0 {
		dir := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		images, below, err := ImagesIn(in, path.Join(folder, dir))
		if err != nil {
			return nil, err
		}
		for _, name := range images {
			all = append(all, path.Join(dir, name))
		}
		for _, name := range below {
			pending = append(pending, path.Join(dir, name))
		}
	}
	slices.Sort(all)
	return all, nil
}

// HasImages reports whether there are images in a folder or below.
func HasImages(in FS, dir string) bool {
	images, below, _ := ImagesIn(in, dir) // that it cannot be listed is the scan's to say
	return len(images) > 0 || slices.ContainsFunc(below, func(name string) bool { return HasImages(in, path.Join(dir, name)) })
}
