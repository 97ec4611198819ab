package tables

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// pathFinder finds the files that a table's paths mean: tables are made on other machines, for other programs.
type pathFinder struct {
	in     vfs.FS
	folder string // that the table is for; "" is the root
	inner  string // the only folder in it, which has all images, if the paths are relative to that
	strip  int    // leading folders of the paths that do not exist here
	// unrooted: the / before the paths stands for the root of the images.
	unrooted bool
	// names are the files of a folder by their names without extension, as far as they were needed.
	names map[string]map[string][]string
	fits  map[string][]string // files that a path without extension may mean
}

// maxLeading bounds the number of leading folders that are left out, and of folders that images are in.
const maxLeading = 64

// foundPath is the file that a path means.
type foundPath struct {
	path   string
	exists bool
}

// roles finds the columns of a sheet, and the position of the one of paths.
func (f *pathFinder) roles(s *Sheet, labelColumns []string) (r Roles, at int, err error) {
	s.takeHeader(func(p string) bool { _, ok := f.find(p); return ok })
	if r, err = s.roles(labelColumns); err == nil {
		at, err = s.position(&r)
	}
	return r, at, err
}

// resolve returns the files that the paths of a column mean, and a notice if all of them are meant otherwise than written.
// Those that do not exist are as written.
func (f *pathFinder) resolve(s *Sheet, at int) (files, error) {
	paths := s.column(at)
	found, any := f.all(paths, false)
	notice := ""
	if !any && len(paths) > 0 {
		if found, notice = f.elsewhere(paths, found); notice == "" {
			var err error
			if notice, err = f.byName(s, paths, found); err != nil {
				return files{}, err
			}
		}
	}
	if err := f.writeRest(s, paths, found); err != nil {
		return files{}, err
	}
	return files{s, found, notice, f.fits}, nil
}

// writeRest sets those of the files that do not exist as they are written.
func (f *pathFinder) writeRest(s *Sheet, paths []string, found []foundPath) (err error) {
	for i := range found {
		if found[i].exists {
			continue
		}
		if found[i].path, err = f.asWritten(paths[i]); err != nil {
			return fmt.Errorf("line %d: %w", s.Lines[i], err)
		}
	}
	return nil
}

// all finds the files of all paths and reports whether any exists. With strict it ends at the first that does
// not exist.
func (f *pathFinder) all(paths []string, strict bool) (found []foundPath, any bool) {
	found = make([]foundPath, len(paths))
	for i, p := range paths {
		found[i].path, found[i].exists = f.find(p)
		any = any || found[i].exists
		if strict && !found[i].exists {
			return nil, false
		}
	}
	return found, any
}

// elsewhere tries other meanings of the paths, none of which exists as written. All of them must exist then, but for
// those whose only fault is a / before.
func (f *pathFinder) elsewhere(paths []string, asWritten []foundPath) ([]foundPath, string) {
	if f.unrooted = slices.ContainsFunc(paths, filepath.IsAbs); f.unrooted {
		if found, any := f.all(paths, false); any {
			return found, "its paths begin with /, which was left out: there are no such files"
		}
	}
	if f.inner = f.onlyFolder(); f.inner != "" {
		if found, ok := f.all(paths, true); ok {
			return found, "its paths are those of files in " + f.inner + "/"
		}
		f.inner = ""
	}
	leading := commonFolders(paths)
	for k := len(leading); k > 0; k-- {
		f.strip = k
		if found, ok := f.all(paths, true); ok {
			return found, fmt.Sprintf("all its paths begin with %s, which was left out: there is no such folder here", path.Join(leading[:k]...)+"/")
		}
	}
	f.strip, f.unrooted = 0, false
	return asWritten, ""
}

// find returns the file that p means; ok is false if there is none.
func (f *pathFinder) find(p string) (string, bool) {
	if p == "" {
		return "", false
	}
	forms := []string{p}
	if strings.Contains(p, "\\") {
		forms = append(forms, strings.ReplaceAll(p, "\\", "/"))
	}
	for _, form := range forms {
		for _, place := range f.places(form) {
			if full, ok := f.file(place); ok {
				return full, true
			}
		}
	}
	return "", false
}

// places are where the file of a path with slashes may be.
func (f *pathFinder) places(p string) []string {
	if f.strip > 0 {
		parts := folders(p)
		if len(parts) <= f.strip {
			return nil
		}
		p = path.Join(parts[f.strip:]...)
	}
	if f.unrooted {
		p = strings.TrimLeft(p, "/")
	}
	if filepath.IsAbs(p) {
		rel, err := f.in.Relative(p)
		if err != nil {
			return nil
		}
		return []string{rel}
	}
	if f.folder == "" && f.inner == "" {
		return []string{path.Clean(p)}
	}
	places := []string{path.Join(f.folder, f.inner, p)}
	if f.inner == "" {
		places = append(places, path.Clean(p)) // from the root
	}
	return places
}

// file returns the file at p, or the only image whose name is that of p and an extension.
func (f *pathFinder) file(p string) (string, bool) {
	if !filepath.IsLocal(filepath.FromSlash(p)) || f.folder != "" && !strings.HasPrefix(p, f.folder+"/") {
		return "", false
	}
	if spelled, ok := vfs.Spelled(f.in, p); ok {
		return spelled, true
	}
	if vfs.HasImageName(p) {
		return "", false
	}
	dir, name := path.Split(p)
	fits := f.namesIn(strings.TrimSuffix(dir, "/"))[vfs.Composed(name)]
	if k := slices.IndexFunc(fits, func(fit string) bool { return vfs.Stem(fit) == name }); len(fits) == 2 && k >= 0 && vfs.Stem(fits[1-k]) != name {
		fits = fits[k : k+1]
	}
	if len(fits) == 1 {
		return dir + fits[0], true
	}
	if len(fits) > 1 {
		if f.fits == nil {
			f.fits = map[string][]string{}
		}
		f.fits[p] = fits
	}
	return "", false
}

// namesIn returns the images of a folder by their names without extension, composed.
func (f *pathFinder) namesIn(dir string) map[string][]string {
	names, known := f.names[dir]
	if known {
		return names
	}
	names = map[string][]string{}
	images, _, _ := vfs.ImagesIn(f.in, dir) // that it cannot be listed is the scan's to say
	for _, name := range images {
		stem := vfs.Composed(vfs.Stem(name))
		names[stem] = append(names[stem], name)
	}
	if f.names == nil {
		f.names = map[string]map[string][]string{}
	}
	f.names[dir] = names
	return names
}

// onlyFolder returns the deepest folder that has all images of the table's folder, relative to that; "" if these are
// not all in one.
func (f *pathFinder) onlyFolder() string {
	inner := ""
	for range maxLeading {
		images, below, err := vfs.ImagesIn(f.in, path.Join(f.folder, inner))
		if err != nil || len(images) > 0 {
			break
		}
		var with []string
		for _, name := range below {
			if len(with) < 2 && vfs.HasImages(f.in, path.Join(f.folder, inner, name)) {
				with = append(with, name)
			}
		}
		if len(with) != 1 {
			break
		}
		inner = path.Join(inner, with[0])
	}
	return inner
}

// asWritten returns a path that does not exist, relative to the root if it is in it.
func (f *pathFinder) asWritten(p string) (string, error) {
	if f.unrooted {
		p = strings.TrimLeft(p, "/")
	}
	rel, err := relative(f.in, p)
	if err == nil && filepath.IsAbs(p) && !filepath.IsLocal(filepath.FromSlash(rel)) {
		return path.Clean(p), nil
	}
	if err != nil || f.folder == "" || filepath.IsAbs(p) || strings.HasPrefix(rel, f.folder+"/") {
		return rel, err
	}
	if joined := path.Join(f.folder, rel); strings.HasPrefix(joined, f.folder+"/") {
		return joined, nil
	}
	return rel, nil
}

// folders returns the parts of a path, whose first ones may be a drive or the root of another machine.
func folders(p string) []string {
	return strings.FieldsFunc(path.Clean(strings.ReplaceAll(p, "\\", "/")), func(r rune) bool { return r == '/' })
}

// commonFolders returns the folders that all paths begin with.
func commonFolders(paths []string) []string {
	var common []string
	for i, p := range paths {
		parts := folders(p)
		parts = parts[:min(max(0, len(parts)-1), maxLeading)]
		if i == 0 {
			common = parts
		}
		n := 0
		for n < min(len(common), len(parts)) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	return common
}

// byName finds names without folders among the images of all folders below. Each name that is found must be that of
// one image: it is an error, which shows them, if one is that of several. Without a notice there are none.
func (f *pathFinder) byName(s *Sheet, paths []string, found []foundPath) (notice string, err error) {
	if slices.ContainsFunc(paths, func(p string) bool { return strings.ContainsAny(p, "/\\") }) {
		return "", nil
	}
	images, _ := vfs.AllImages(f.in, f.folder) // that it cannot be listed is the scan's to say
	places := map[string][]string{}
	for _, p := range images {
		name := path.Base(p)
		places[name] = append(places[name], p)
		places[vfs.Stem(name)] = append(places[vfs.Stem(name)], p)
	}
	for i, name := range paths {
		switch in := places[name]; {
		case len(in) > 1:
			return "", fmt.Errorf("line %d: %s may be any of %s: write the folder before the name, or give a table for each folder: --labels FOLDER=TABLE",
				s.Lines[i], name, ListNames(in))
		case len(in) == 1:
			found[i] = foundPath{path.Join(f.folder, in[0]), true}
			notice = "its names are those of images in folders below, such as " + found[i].path
		}
	}
	return notice, nil
}

// Missing lists the files that the scan of the folder cannot have found. That of a list looks at files of all names.
func (t *Table) Missing(in vfs.FS, isList bool) []formats.Skip {
	var skips []formats.Skip
	for i, p := range t.Paths {
		if why := t.whyNotFound(i, in, isList); why != "" {
			skips = append(skips, formats.Skip{
				Path: p, Cause: "it is listed in " + t.fileOf(i).File + " but " + why, Missing: strings.HasPrefix(why, "does not exist"),
			})
		}
	}
	return skips
}

// whyNotFound returns why the scan of the folder cannot have found the file of row i, "" if it has.
func (t *Table) whyNotFound(i int, in vfs.FS, isList bool) string {
	p := t.Paths[i]
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return "is outside the folder"
	}
	if t.Exists == nil || !t.Exists[i] {
		if fits := t.fits[p]; len(fits) > 0 {
			return "may be any of " + ListNames(fits) + ": write the extension"
		}
		switch st, err := in.Lstat(p); {
		case err != nil && strings.Contains(p, "\\"):
			return "does not exist: write paths with /"
		case err != nil:
			return "does not exist"
		case st.IsDir():
			return "is a folder"
		}
	}
	if !isList && !vfs.HasImageName(p) && !vfs.IsUnknown(p) {
		return "has no extension of an image: if it is one, pack the list of the images itself, which may name any file"
	}
	return ""
}
