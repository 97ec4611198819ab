package listing

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/fields"
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Questions counts files that may be fields of an image rather than images of their own. They are found while the
// files are sorted, by records under the name of the image that they may belong to.
type Questions struct {
	images            int
	masks             masks
	sameName, folders pairs
}

// pairs are files that may belong together.
type pairs struct {
	count    int
	image    string // the first of them
	partner  string
	examples []string
}

func (p *pairs) add(image, partner string) {
	if p.count++; p.count == 1 {
		p.image, p.partner = image, partner
	}
	if len(p.examples) < 2 {
		p.examples = append(p.examples, image+" and "+partner)
	}
}

// Pairs are asked about if there are at least minPairs, and more than one for each pairShare images.
const (
	minPairs  = 2
	pairShare = 10
)

func (q *Questions) asks(p *pairs) bool { return p.count >= minPairs && p.count*pairShare > q.images }

// fieldFolders are the names of folders that hold masks or annotations beside a folder of images, in lower case.
var fieldFolders = []string{"segmentationclass", "segmentationobject", "gt", "gtfine", "target", "targets", "ann", "masks_machine", "masks_human", "masks_instances"}

func isFieldFolder(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(fieldFolders, name) || slices.ContainsFunc([]string{"mask", "label", "annotation", "segmentation", "trimap"}, func(m string) bool {
		return name == m || name == m+"s"
	})
}

// folderPlace returns the parts of a path around the first folder that holds images or what belongs to them. Folders of
// the latter may lie in each other, as annotations/trimaps do.
func folderPlace(rel string) (before, folder, rest string, ok bool) {
	for at := 0; ; {
		name, deeper, ok := strings.Cut(rel[at:], "/")
		if !ok {
			return "", "", "", false
		}
		if layout.IsImageFolder(name) || isFieldFolder(name) {
			end := at + len(name)
			for isFieldFolder(name) {
				inner, below, ok := strings.Cut(deeper, "/")
				if !ok || !isFieldFolder(inner) {
					break
				}
				end, deeper = end+1+len(inner), below
			}
			return rel[:at], rel[at:end], deeper, true
		}
		at += len(name) + 1
	}
}

// annotationExtensions are those of files in such a folder that are no images.
var annotationExtensions = []string{".txt", ".xml", ".json", ".npy"}

// ask adds what a file may be a part of. The lock is held.
func (l *Files) ask(rel string, isImage bool) error {
	if !l.asking {
		return nil
	}
	if before, folder, rest, ok := folderPlace(rel); ok && (isImage || !layout.IsImageFolder(folder)) {
		l.value = append(append(l.value[:0], folderRecord), rel...)
		if err := l.sorter.Add([]byte("\x00"+before+"\x00"+withoutExtensions(rest)), l.value); err != nil {
			return err
		}
	}
	if isImage {
		l.masks.add(rel)
	}
	return nil
}

// askAbout is ask for a file that is no image.
func (l *Files) askAbout(rel string) error {
	if !l.asking || !slices.Contains(annotationExtensions, strings.ToLower(path.Ext(rel))) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ask(rel, false)
}

// group counts the files of one stem: images with it, and files of the same stem in folders beside each other.
func (q *Questions) group(same []vfs.File, folders []string) {
	q.images += len(same)
	if len(same) > 1 {
		q.sameName.add(same[0].Path, same[1].Path)
	}
	for i := range same {
		q.masks.match(same[i].Path)
	}
	var image, field string
	for _, rel := range folders {
		_, folder, _, _ := folderPlace(rel)
		switch {
		case layout.IsImageFolder(folder):
			image = rel
		case field == "", vfs.HasImageName(rel) && !vfs.HasImageName(field):
			field = rel
		}
	}
	if image != "" && field != "" {
		q.folders.add(image, field)
	}
}

// Ask returns the question, nil if there is none.
func (q *Questions) Ask(root string) error {
	p := new(pairs)
	var what string
	var core string // what the names of the first pair have in common
	switch {
	case q.asks(&q.folders):
		p = &q.folders
		_, image, _, _ := folderPlace(p.image)
		_, field, _, _ := folderPlace(p.partner)
		what = fmt.Sprintf("in %s/ and %s/ have files of the same names", image, field)
	case q.masks.asks(q.images):
		p.count = q.masks.matched
		p.image, p.partner, p.examples = q.masks.image, q.masks.mask, []string{q.masks.image + " and " + q.masks.mask}
		var folder string
		core, folder = q.masks.maskOf(p.partner)
		if what = "have a file named like their mask, with " + vfs.Stem(path.Base(p.partner)[len(core):]); folder != "" {
			what = fmt.Sprintf("have a file of the same name in %s/", path.Dir(p.partner))
		}
	case q.asks(&q.sameName):
		p, what = &q.sameName, "share their name with another one"
	default:
		return nil
	}
	if core == "" {
		core = withoutExtensions(path.Base(p.partner))
	}
	return fmt.Errorf("%s: %d images %s, such as %s: do they belong together? Choose one: %s makes each two of them one sample; "+
		"--field none packs each image as a sample of its own, with its folder as its class. See docs/fields.md",
		root, p.count, what, strings.Join(p.examples, ", "), p.flags(core))
}

// flags are those that make samples of the pairs, as the first one shows: core is what its names have in common.
func (p *pairs) flags(core string) string {
	ending := path.Base(p.partner)[len(core):]
	imageEnding := strings.TrimPrefix(vfs.ImageStem(path.Base(p.image)), core)
	image, partner := folders(path.Dir(p.image)), folders(path.Dir(p.partner))
	n := 0
	for n < min(len(image), len(partner)) && image[n] == partner[n] {
		n++
	}
	before := placeholder(strings.Join(image[:n], "/"))
	same := slices.Equal(image, partner)
	image, partner = image[n:], partner[n:]
	for len(image) > 0 && len(partner) > 0 && image[len(image)-1] == partner[len(partner)-1] {
		image, partner = image[:len(image)-1], partner[:len(partner)-1]
	}
	pattern := func(folders []string, ending string) string {
		if same { // the key has the folders
			return "{key}" + ending
		}
		return before + path.Join(append(folders[:len(folders):len(folders)], "{key}"+ending)...)
	}
	first := ""
	if !same || imageEnding != "" {
		first = fmt.Sprintf("--field 'image=%s' ", pattern(image, imageEnding+".*"))
	}
	switch strings.ToLower(path.Ext(ending)) {
	case ".txt", ".xml":
		return first + fmt.Sprintf("--boxes '%s'", pattern(partner, ending))
	case ".json":
		return first + fmt.Sprintf("--field 'annotation=%s'", pattern(partner, ending))
	}
	return first + fmt.Sprintf("--field 'mask=%s'", pattern(partner, ending))
}

// masks are files that are named like the mask of another image: 1_mask.png of 1.jpg or 1_sat.jpg, wherever that is, and
// train_masks/1.png of train/1.jpg.
type masks struct {
	count   int               // all of them
	kept    map[string]string // the path of one, by the name of its image
	matched int               // images of those that are kept
	image   string            // one of these, and its mask
	mask    string
	last    maskFolder // of the file before: most are in the same one
}

// maskFolder is what a folder tells of the files in it.
type maskFolder struct {
	dir    string
	named  bool   // like a folder of masks
	images string // see imagesOf
}

// maxMasks is how many masks are kept.
const maxMasks = 100_000

// splitName returns what is left of a file's name without its ending, and that: "_mask.png", ".jpg.png".
func splitName(name string, isEnding func(word string) bool) (core, ending string) {
	core = withoutExtensions(name)
	for {
		at := strings.LastIndexAny(core, "-_. ")
		if at <= 0 || !isEnding(strings.ToLower(core[at+1:])) {
			return core, name[len(core):]
		}
		core = core[:at]
	}
}

// withoutExtensions is a path without its extension, and without that of an image before it: x of x.jpg.png.
func withoutExtensions(name string) string {
	stem := vfs.Stem(name)
	if vfs.IsImageExtension(path.Ext(stem)) {
		return vfs.Stem(stem)
	}
	return stem
}

// isImageWord reports whether files of images that have masks beside them end so.
func isImageWord(word string) bool {
	return word == "sat" || word == "im" || word == "raw" || word == "original" || layout.IsImageFolder(word)
}

func isMaskWord(word string) bool {
	return fields.IsMaskName(word) || word == "gtfine" || word == "gtcoarse"
}

// maskOf returns the name of the image that the file at a path may be the mask of, "" if it is named like no mask, and the
// folder that the image must be in, "" for any.
func (m *masks) maskOf(rel string) (core, folder string) {
	dir, name := path.Split(rel)
	if m.last.dir != dir {
		m.last = maskFolder{dir, fields.IsMaskName(path.Base(dir)), imagesOf(path.Dir(rel))}
	}
	isEnding := isMaskWord
	if m.last.named { // CamVid
		isEnding = func(word string) bool { return isMaskWord(word) || word == "l" }
	}
	core, _ = splitName(name, isEnding)
	if core != withoutExtensions(name) {
		return core, ""
	}
	if m.last.images == "" {
		return "", ""
	}
	return core, m.last.images
}

// imagesOf returns the folder of the images whose masks are in a folder: train/cat of train_masks/cat. It is "" if the
// folder is named like no other.
func imagesOf(dir string) string {
	parts := strings.Split(dir, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if core, ending := splitName(parts[i]+".", isMaskWord); ending != "." {
			parts[i] = core
			return strings.Join(parts, "/")
		}
	}
	return ""
}

// add adds a file.
func (m *masks) add(rel string) {
	core, _ := m.maskOf(rel)
	if core == "" {
		return
	}
	m.count++
	if m.kept == nil {
		m.kept = map[string]string{}
	}
	if first, ok := m.kept[core]; ok && rel < first || !ok && len(m.kept) < maxMasks {
		m.kept[core] = rel
	}
}

// match counts an image if it has a mask.
func (m *masks) match(rel string) {
	if len(m.kept) == 0 {
		return
	}
	if core, _ := m.maskOf(rel); core != "" {
		return
	}
	name := path.Base(rel)
	mask, ok := m.kept[withoutExtensions(name)]
	if !ok {
		core, _ := splitName(name, isImageWord)
		if mask, ok = m.kept[core]; !ok {
			return
		}
	}
	if _, folder := m.maskOf(mask); folder != "" && folder != path.Dir(rel) {
		return
	}
	m.matched++
	if m.image == "" || path.Dir(m.image) != path.Dir(m.mask) && path.Dir(rel) == path.Dir(mask) {
		m.image, m.mask = rel, mask
	}
}

// asks reports whether enough of all images have masks.
func (m *masks) asks(images int) bool {
	return m.matched >= minPairs && m.count*m.matched/len(m.kept)*pairShare > images
}

func folders(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

// placeholder is how a pattern names the folders before those of images and masks: with a slash, or "" for none.
func placeholder(before string) string {
	switch {
	case before == "":
		return ""
	case slices.Contains(layout.Splits, before):
		return "{split}/"
	case !strings.Contains(before, "/"):
		return "{class}/"
	}
	return "{dir}/"
}
