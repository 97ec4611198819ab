package listing

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Questions counts files that may be fields of an image rather than images of their own. They are found while the
// files are sorted, by records under the name of the image that they may belong to.
type Questions struct {
	images            int
	masks             masks
	sameName          pairs
	folders           pairs
	image, field      string // names of the folders, as in their paths
	fieldExt          string // of the first pair of folders
	before            string // the folders above those of folders
	sameNameExtension string
}

// pairs are files that may belong together.
type pairs struct {
	count    int
	examples []string
}

func (p *pairs) add(image, partner string) {
	if p.count++; len(p.examples) < 2 {
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
		if q.sameNameExtension == "" {
			q.sameNameExtension = path.Ext(same[1].Path)
		}
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
	if image == "" || field == "" {
		return
	}
	q.folders.add(image, field)
	if q.image == "" {
		q.before, q.image, _, _ = folderPlace(image)
		var rest string
		_, q.field, rest, _ = folderPlace(field)
		q.fieldExt = rest[len(withoutExtensions(rest)):]
	}
}

// Ask returns the question, nil if there is none.
func (q *Questions) Ask(root string) error {
	p := new(pairs)
	var what, flags string
	switch {
	case q.asks(&q.folders):
		p, what = &q.folders, fmt.Sprintf("in %s/ and %s/ have files of the same names", q.image, q.field)
		flags = q.folderFlags()
	case q.masks.asks(q.images):
		var example string
		what, example, flags = q.masks.question()
		p.count, p.examples = q.masks.matched, []string{example}
	case q.asks(&q.sameName):
		p, what = &q.sameName, "share their name with another one"
		flags = fmt.Sprintf("--field 'mask={key}%s'", q.sameNameExtension)
	default:
		return nil
	}
	return fmt.Errorf("%s: %d images %s, such as %s: do they belong together? Choose one: %s makes each two of them one sample; "+
		"--field none packs each image as a sample of its own, with its folder as its class. See docs/fields.md",
		root, p.count, what, strings.Join(p.examples, ", "), flags)
}

// folderFlags are the flags that use the files of the folder as a field.
func (q *Questions) folderFlags() string {
	before := placeholder(strings.TrimSuffix(q.before, "/"))
	image := fmt.Sprintf("--field 'image=%s%s/{key}.*' ", before, q.image)
	pattern := fmt.Sprintf("%s%s/{key}%s", before, q.field, q.fieldExt)
	switch strings.ToLower(path.Ext(q.fieldExt)) {
	case ".txt", ".xml":
		return image + fmt.Sprintf("--boxes '%s'", pattern)
	case ".json":
		return image + fmt.Sprintf("--field 'annotation=%s'", pattern)
	}
	return image + fmt.Sprintf("--field 'mask=%s'", pattern)
}
