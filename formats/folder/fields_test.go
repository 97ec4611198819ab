package folder

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// files writes files with contents under a new folder. The content "png" is a PNG of 8 by 6 pixels.
func files(t *testing.T, contents map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range contents {
		to := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(to), 0o755))
		if content == "png" {
			content = pngOf(t, 8, 6)
		}
		must(t, os.WriteFile(to, []byte(content), 0o644))
	}
	return root
}

func pngOf(t *testing.T, w, h int) string {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = color.Gray{Y: uint8(i % 3)}.Y
	}
	var b strings.Builder
	must(t, png.Encode(&b, m))
	return b.String()
}

// values is "name=value" of the fields of each sample, after its key, split and label.
func values(t *testing.T, d *Dataset) []string {
	t.Helper()
	rows := keyLabels(t, d)
	var s formats.Sample
	for i := range rows {
		rows[i] = strings.TrimSpace(rows[i])
		if err := d.Read(i, &s); err != nil {
			rows[i] += " error " + err.Error()
			continue
		}
		for k, f := range d.Meta().Schema {
			if k == 0 || f.Kind.IsLabel() {
				continue
			}
			v := &s.Values[k]
			text := string(v.Data)
			switch {
			case v.Encoding == formats.PNG:
				text = "png"
			case v.Encoding != formats.Plain:
				text = fmt.Sprint(len(v.Data))
			}
			rows[i] += " " + f.Name + "=" + text
		}
	}
	return rows
}

func TestFields(t *testing.T) {
	for name, c := range map[string]struct {
		files  string
		config Config
		want   []string
	}{
		"masks beside images": {
			"images/a.png images/b.png masks/a.png masks/b.PNG",
			Config{Fields: []string{"mask=masks/{key}.png"}},
			[]string{"a mask=png", "b mask=png"},
		},
		"by the name": {
			"cat/a.png dog/b.png masks/a.png masks/b.png",
			Config{Fields: []string{"mask=masks/{stem}.png"}},
			[]string{"cat/a  cat mask=png", "dog/b  dog mask=png"},
		},
		"in the same folder": {
			"cat/a.png cat/a_mask.png dog/b.png dog/b_mask.png cat/a.txt dog/b.txt",
			Config{Fields: []string{"mask={key}_mask.png", "caption={key}.txt"}},
			[]string{"cat/a  cat mask=png caption=cat/a.txt", "dog/b  dog mask=png caption=dog/b.txt"},
		},
		"splits": {
			"train/images/a.png train/masks/a.png val/images/a.png val/masks/a.png",
			Config{Fields: []string{"mask={split}/masks/{key}.png"}},
			[]string{"train/a train mask=png", "val/a val mask=png"},
		},
		"splits below": {
			"images/train/a.png masks/train/a.png images/val/b.png masks/val/b.png",
			Config{Fields: []string{"mask=masks/{key}.png"}},
			[]string{"train/a train mask=png", "val/b val mask=png"},
		},
		"several images": {
			"x/a.left.png x/a.right.png",
			Config{Fields: []string{"image={key}.left.png", "right={key}.right.png,kind=image"}},
			[]string{"x/a  x right=png"},
		},
		"splits and classes named": {
			"training/img/cat/1.png training/gt/cat/1.png test/img/dog/2.png test/gt/dog/2.png",
			Config{Fields: []string{"image={split}/img/{class}/{stem}.png", "gt={split}/gt/{class}/{stem}.png"}},
			[]string{"test/dog/2 test dog gt=png", "training/cat/1 training cat gt=png"},
		},
		"missing": {
			"images/a.png images/b.png masks/a.png masks/c.png",
			Config{Fields: []string{"mask=masks/{key}.png"}},
			[]string{"a mask=png", "b error field mask: there is no file masks/b.png"},
		},
		"wildcard": {
			"x/a.jpg x/a.mask.png x/b.jpg x/b.mask.gif x/b.mask.png",
			Config{Fields: []string{"mask={key}.mask.*"}},
			[]string{"x/a  x mask=png", "x/b  x error field mask: two files may be it: x/b.mask.gif and x/b.mask.png"},
		},
		"JSON and bytes": {
			"a.png a.json b.png b.json a.dat b.dat",
			Config{Fields: []string{"meta={key}.json", "blob={key}.dat"}},
			[]string{"a error field meta: a.json: not JSON; kind=bytes takes it as it is", "b error field meta: b.json: not JSON; kind=bytes takes it as it is"},
		},
		"a file of a folder": {
			"x/a.png x/b.png x/info.txt",
			Config{Fields: []string{"info={dir}/info.txt"}},
			[]string{"x/a  x info=x/info.txt", "x/b  x info=x/info.txt"},
		},
		"beside the images in their folder": {
			"images/a.png images/a.txt images/b.png images/b.txt masks/a.png masks/b.png",
			Config{Fields: []string{"caption={key}.txt", "mask=masks/{key}.png"}},
			[]string{"a caption=images/a.txt mask=png", "b caption=images/b.txt mask=png"},
		},
		"in the root": {
			"a.png m/a.png",
			Config{Fields: []string{"mask={dir}/m/{stem}.png"}},
			[]string{"a mask=png"},
		},
		"none": {
			"x/a.png x/a_mask.png",
			Config{Fields: []string{"none"}},
			[]string{"x/a  x", "x/a_mask  x"},
		},
	} {
		contents := map[string]string{}
		for _, f := range strings.Fields(c.files) {
			contents[f] = f
			if ext := strings.ToLower(filepath.Ext(f)); ext == ".png" || ext == ".jpg" || ext == ".gif" {
				contents[f] = "png"
			}
		}
		root := files(t, contents)
		d := open(t, root, c.config)
		if got := values(t, d); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		must(t, d.Close())
		v, err := OpenFS(context.Background(), os.DirFS(root), c.config)
		must(t, err)
		if got := values(t, v); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: in a file system: %q, want %q", name, got, c.want)
		}
		must(t, v.Close())
	}
}

func TestFieldsWithTable(t *testing.T) {
	root := files(t, map[string]string{"i/a.png": "png", "i/b.png": "png", "m/a.png": "png", "m/b.png": "png", "labels.csv": "path,label\ni/a.png,x\ni/b.png,y\n"})
	d := open(t, root, Config{Labels: filepath.Join(root, "labels.csv"), Fields: []string{"mask=m/{stem}.png"}})
	defer d.Close()
	if got, want := values(t, d), []string{"i/a  x mask=png", "i/b  y mask=png"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := d.Skips(); len(got) > 0 {
		t.Error("skips", got)
	}
}

func TestFieldErrors(t *testing.T) {
	root := files(t, map[string]string{"images/a.png": "png", "masks/b.png": "png"})
	for field, want := range map[string]string{
		"mask":                          "write NAME=PATTERN",
		"mask=masks/all.png":            "names the same file for each sample",
		"mask=../{key}.png":             "not a path in the source's folder",
		"mask=/{key}.png":               "not a path in the source's folder",
		"mask={name}.png":               "use {key}, {stem}",
		"depth={key}_d.png":             "kind=mask",
		"m=masks/{key}.png,kind=label":  `kind "label"`,
		"a b={key}.txt":                 "field name",
		"mask=masks/{key}.png":          "1 files have this form, such as masks/b.png, but they belong to no image",
		"mask=segmentation/{key}.png":   "no file has this form",
		"image={key}.jpg":               "no image to read",
		"image=images/{key}.png,kind=x": "of kind image",
		"mask={key}*.*.*.*.*.png":       "more than 4 *",
	} {
		d, err := Open(context.Background(), root, Config{Fields: []string{field}})
		if err == nil {
			must(t, d.Close())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", field, err, want)
		}
	}
	for _, list := range [][]string{{"none", "mask=m/{key}.png"}, {"m=a/{key}.txt", "m=b/{key}.txt"}} {
		if _, err := Open(context.Background(), root, Config{Fields: list}); err == nil {
			t.Error(list, "is no error")
		}
	}
}
