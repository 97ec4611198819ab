package folder

import "slices"

// imagesIn lists the images and the folders in a folder, in the order of their names, without hidden ones.
func imagesIn(in filesystem, dir string) (images, below []string, err error) {
	d, err := in.openFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.close()
	for {
		entries, err := d.next()
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
			case isSystemName(name):
			case e.IsDir():
				below = append(below, name)
			case hasImageName(name):
				images = append(images, name)
			}
		}
	}
}
