package fields

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// None is the value of Config.Fields that is no pattern: see folder.FieldsNone.
const None = "none"

// imageField is the name of the field whose pattern says which files are the samples' images.
const imageField = "image"

// spec is one of Config.Fields.
type spec struct {
	name    string
	kind    formats.Kind
	pattern *pattern
	dtype   formats.DType // of arrays
	shape   []int
	// wholeKey: {key} is the image's whole path, although its folder is no part of the sample's key.
	wholeKey bool
	boxes    *boxFiles // what reads the files, if they have boxes

	found, missing, unused int    // samples with a file, and without; files of no sample
	orphan                 string // the first file that belongs to no sample
}

// fileKinds are the kinds of fields that lie in files.
var fileKinds = []formats.Kind{formats.Image, formats.Mask, formats.Boxes, formats.Array, formats.Text, formats.JSON, formats.Bytes}

// maskNames are in the names of fields of kind mask, and in the names of files that are masks.
var maskNames = []string{"mask", "seg", "label", "annot", "matte", "instance", "semantic", "groundtruth", "trimap", "panoptic"}

// parseSpec reads NAME=PATTERN[,kind=KIND].
func parseSpec(text string) (*spec, error) {
	name, rest, ok := strings.Cut(text, "=")
	if !ok {
		return nil, fmt.Errorf("--field %s: write NAME=PATTERN, such as mask=masks/{key}.png, or none", text)
	}
	s := &spec{name: name}
	pattern, kind, given := strings.Cut(rest, ",kind=")
	var err error
	if s.pattern, err = parsePattern(pattern); err != nil {
		return nil, fmt.Errorf("--field %s: %w", text, err)
	}
	s.kind = formats.Kind(kind)
	switch {
	case name == imageField && given && s.kind != formats.Image:
		return nil, fmt.Errorf("--field %s: the field image is of kind image", text)
	case name == imageField:
		s.kind = formats.Image
	case given && !slices.Contains(fileKinds, s.kind):
		return nil, fmt.Errorf("--field %s: kind %q: use image, mask, boxes, array, text, json or bytes", text, kind)
	case !given:
		s.kind, err = defaultKind(name, path.Ext(pattern))
	}
	if err != nil {
		return nil, fmt.Errorf("--field %s: %w", text, err)
	}
	one := formats.Schema{{Name: "x-image", Kind: formats.Image}, {Name: name, Kind: s.kind}}
	if err := one.Validate(); err != nil {
		return nil, fmt.Errorf("--field %s: %w", text, err)
	}
	return s, nil
}

// defaultKind is the kind of a field by its name and its files' extension.
func defaultKind(name, ext string) (formats.Kind, error) {
	ext = strings.ToLower(ext)
	switch {
	case vfs.IsImageExtension(ext) || strings.Contains(ext, "*"):
		if IsMaskName(name) {
			return formats.Mask, nil
		}
		if vfs.IsImageExtension(ext) && (ext == ".jpg" || ext == ".jpeg") {
			return formats.Image, nil // no mask: it would have lost values
		}
		return "", errors.New("is it pixels to predict, which a resize must not mix (add ,kind=mask), or an image (add ,kind=image)? For other files add ,kind=text, json, array or bytes")
	case ext == ".txt" || ext == ".caption":
		return formats.Text, nil
	case ext == ".json":
		return formats.JSON, nil
	case ext == ".npy":
		return formats.Array, nil
	}
	return formats.Bytes, nil
}

// IsMaskName reports whether a name is that of a field of kind mask.
func IsMaskName(name string) bool {
	name = strings.ToLower(name)
	return name == "gt" || slices.ContainsFunc(maskNames, func(m string) bool { return strings.Contains(name, m) })
}

// parseSpecs reads Config.Fields; image is the pattern of the samples' images, nil if none is given.
func parseSpecs(list []string) (image *pattern, specs []*spec, err error) {
	for _, text := range list {
		if text == None && len(list) > 1 {
			return nil, nil, fmt.Errorf("--field %s stands alone: leave out the other --field", text)
		} else if text == None {
			return nil, nil, nil
		}
		s, err := parseSpec(text)
		switch {
		case err != nil:
			return nil, nil, err
		case s.name == imageField && image != nil, slices.ContainsFunc(specs, func(o *spec) bool { return o.name == s.name }):
			return nil, nil, fmt.Errorf("--field %s: the field %s is there twice", text, s.name)
		case s.name == imageField:
			image = s.pattern
		default:
			specs = append(specs, s)
		}
	}
	return image, specs, nil
}

// expand returns the path of a sample's file, as pattern.expand does.
func (p *spec) expand(v *partValues, f *vfs.File) []string {
	if !p.wholeKey {
		return p.pattern.expand(v)
	}
	whole := *v
	whole[keyPart] = vfs.ImageStem(f.Path)
	return p.pattern.expand(&whole)
}

// field is what the schema has of p.
func (p *spec) field() formats.Field {
	field := formats.Field{Name: p.name, Kind: p.kind, DType: p.dtype, Shape: p.shape}
	if p.kind == formats.Boxes {
		field.DType, field.Shape = formats.Float32, []int{-1, 4}
	}
	return field
}

// Name turns a column's name into a valid field name.
func Name(column string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, column)
}

// Options are those of folder.Config of the same names.
type Options struct {
	Fields, Boxes, Captions []string
	Memory                  int64
}

// Any reports whether samples have more than an image and labels.
func (o *Options) Any() bool {
	none := len(o.Fields) == 1 && o.Fields[0] == None
	return len(o.Fields) > 0 && !none || len(o.Boxes)+len(o.Captions) > 0
}

// Check returns an error if fields or boxes are written wrongly. It looks at no file.
func (o *Options) Check() error {
	if _, _, err := parseSpecs(o.Fields); err != nil {
		return err
	}
	return new(Set).addAnnotations(o)
}

// placeholder is a part of a path that a pattern names.
type placeholder int

const (
	keyPart placeholder = iota
	stemPart
	dirPart
	splitPart
	classPart
	placeholders // how many there are
)

var placeholderNames = [placeholders]string{"key", "stem", "dir", "split", "class"}

// partValues are what the placeholders stand for in the paths of one sample.
type partValues [placeholders]string

// maxStars bounds the wildcards of a pattern: matching tries all ways to divide a name among them.
const maxStars = 4

// pattern is a path relative to the root with {key}, {stem}, {dir}, {split}, {class} and *, which matches any
// characters but / and a dot.
type pattern struct {
	text  string
	parts []patternPart
	names []placeholder // by group of the expression
	re    *regexp.Regexp
}

// patternPart is a literal, a placeholder or a wildcard.
type patternPart struct {
	literal string
	is      placeholder // -1 for a literal, -2 for *
}

const (
	literalPart placeholder = -1
	starPart    placeholder = -2
)

var patternToken = regexp.MustCompile(`\{[^{}]*\}|\*`)

// parsePattern reads a pattern. The error says what it must be.
func parsePattern(text string) (*pattern, error) {
	if text == "" || !filepath.IsLocal(filepath.FromSlash(text)) || path.Clean(text) != text {
		return nil, fmt.Errorf("the pattern %q is not a path in the source's folder, such as masks/{key}.png", text)
	}
	p := &pattern{text: text}
	at, stars := 0, 0
	literal := func(s string) {
		if s != "" {
			p.parts = append(p.parts, patternPart{s, literalPart})
		}
	}
	for _, span := range patternToken.FindAllStringIndex(text, -1) {
		token := text[span[0]:span[1]]
		literal(text[at:span[0]])
		at = span[1]
		if token == "*" {
			stars++
			p.parts = append(p.parts, patternPart{is: starPart})
			continue
		}
		is := placeholder(slices.Index(placeholderNames[:], token[1:len(token)-1]))
		if is < 0 {
			return nil, fmt.Errorf("the pattern %q has %s: use {key}, {stem}, {dir}, {split} or {class}", text, token)
		}
		p.parts = append(p.parts, patternPart{is: is})
	}
	literal(text[at:])
	switch {
	case stars > maxStars:
		return nil, fmt.Errorf("the pattern %q has more than %d *", text, maxStars)
	case !slices.ContainsFunc(p.parts, func(q patternPart) bool { return q.is >= 0 }):
		return nil, fmt.Errorf("the pattern %q names the same file for each sample: use {key} (a sample's key) or {stem} (the image's name without extension)", text)
	}
	return p, p.compile()
}

// compile makes the expression that finds the pattern's files. The case of extensions does not matter.
func (p *pattern) compile() (err error) {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i, q := range p.parts {
		switch q.is {
		case literalPart:
			text := q.literal
			if i > 0 && p.parts[i-1].is == dirPart {
				text = strings.TrimPrefix(text, "/") // part of the folder, which may be the root
			}
			if i == len(p.parts)-1 {
				ext := path.Ext(text)
				b.WriteString(regexp.QuoteMeta(text[:len(text)-len(ext)]) + `(?i:` + regexp.QuoteMeta(ext) + `)`)
				continue
			}
			b.WriteString(regexp.QuoteMeta(text))
		case starPart:
			b.WriteString(`[^/.]*`)
		case keyPart:
			b.WriteString(`(.+)`)
		case dirPart:
			if i+1 < len(p.parts) && strings.HasPrefix(p.parts[i+1].literal, "/") {
				b.WriteString(`(?:(.+)/)?`)
			} else {
				b.WriteString(`(.+)`)
			}
		default:
			b.WriteString(`([^/]+)`)
		}
		if q.is >= 0 {
			p.names = append(p.names, q.is)
		}
	}
	p.re, err = regexp.Compile(b.String() + `$`)
	return err
}

// has reports whether the pattern uses the placeholder.
func (p *pattern) has(is placeholder) bool { return slices.Contains(p.names, is) }

// matches reports whether the file at a relative path has the form of the pattern.
func (p *pattern) matches(rel string) bool {
	if len(p.names) == 1 {
		return p.re.MatchString(rel)
	}
	_, ok := p.find(rel)
	return ok
}

// find returns what the placeholders stand for in a path. One that occurs twice stands for the same.
func (p *pattern) find(rel string) (v partValues, ok bool) {
	groups := p.re.FindStringSubmatch(rel)
	if groups == nil {
		return v, false
	}
	var seen [placeholders]bool
	for i, name := range p.names {
		if seen[name] && v[name] != groups[i+1] {
			return v, false
		}
		v[name], seen[name] = groups[i+1], true
	}
	return v, true
}

// expand returns the path of a sample's file, in the texts between the wildcards.
func (p *pattern) expand(v *partValues) []string {
	segments := []string{""}
	last := &segments[0]
	for i, q := range p.parts {
		switch {
		case q.is == starPart:
			segments = append(segments, "")
			last = &segments[len(segments)-1]
		case q.is != literalPart:
			*last += v[q.is]
		case i > 0 && p.parts[i-1].is == dirPart && v[dirPart] == "":
			*last += strings.TrimPrefix(q.literal, "/")
		default:
			*last += q.literal
		}
	}
	return segments
}

// foldExtension is the form of paths in which the case of extensions does not matter.
func foldExtension(rel string) string {
	ext := path.Ext(rel)
	return rel[:len(rel)-len(ext)] + strings.ToLower(ext)
}

// matchSegments reports whether s is the segments with a wildcard between each two.
func matchSegments(s string, segments []string) bool {
	rest, ok := strings.CutPrefix(s, segments[0])
	if !ok || len(segments) == 1 {
		return ok && rest == ""
	}
	for n := 0; ; n++ {
		if matchSegments(rest[n:], segments[1:]) {
			return true
		}
		if n == len(rest) || rest[n] == '/' || rest[n] == '.' {
			return false
		}
	}
}
