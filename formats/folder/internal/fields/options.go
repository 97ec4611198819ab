package fields

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
	if len(o.Fields) != 1 || o.Fields[0] != None && o.Fields[0] != Auto {
		if _, _, err := parseSpecs(o.Fields); err != nil {
			return err
		}
	}
	return new(Set).addAnnotations(o)
}
