package fields_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// objects is "[x0 y0 x1 y1]class" of the boxes of each sample, after its key, and the flags and captions.
func objects(t *testing.T, d *folder.Dataset) []string {
	t.Helper()
	var rows []string
	var s formats.Sample
	schema := d.Meta().Schema
	for i := range d.Len() {
		in, err := d.Info(i)
		foldertest.Must(t, err)
		row := in.Key
		if err := d.Read(i, &s); err != nil {
			rows = append(rows, row+" error "+err.Error())
			continue
		}
		if k := schema.Index("boxes"); k >= 0 {
			boxes, classes := s.Values[k], s.Values[schema.Index("box_labels")]
			for n := range boxes.Shape[0] {
				var b [4]float32
				for j := range b {
					b[j] = math.Float32frombits(binary.LittleEndian.Uint32(boxes.Data[16*n+4*j:]))
				}
				row += fmt.Sprint(" ", b, binary.LittleEndian.Uint64(classes.Data[8*n:]))
			}
		}
		for _, extra := range []string{"box_crowd", "box_difficult"} {
			if k := schema.Index(extra); k >= 0 {
				row += fmt.Sprintf(" flags%v", s.Values[k].Data)
			}
		}
		if k := schema.Index("captions"); k >= 0 {
			row += " " + string(s.Values[k].Data)
		}
		rows = append(rows, row)
	}
	return rows
}

const cocoText = `{"info": {"a": [1, {"b": 2}]}, "annotations": [
 {"id": 1, "image_id": 7, "category_id": 18, "bbox": [1, 2, 3.5, 1], "iscrowd": 0, "segmentation": [[1,2,3,4,5,6]]},
 {"id": 2, "image_id": 7, "category_id": 2, "bbox": [0, 0, 8, 6], "iscrowd": 1, "segmentation": {"counts": [1], "size": [6, 8]}},
 {"id": 3, "image_id": 9, "category_id": 18, "bbox": [0, 0, -1, 6]}],
 "images": [{"id": 7, "file_name": "a.png"}, {"id": 8, "file_name": "b.png"}, {"id": 9, "file_name": "c.png"}, {"id": 10, "file_name": "gone.png"}],
 "categories": [{"id": 18, "name": "dog"}, {"id": 2, "name": "cat"}]}`

// What a file has of its objects besides boxes is named; empty ones are none.
func TestCOCOLeftOut(t *testing.T) {
	root := foldertest.Files(t, map[string]string{"a.png": "png"})
	for members, want := range map[string]string{
		``: "", `, "segmentation": [], "keypoints": null`: "", `, "segmentation": [[1, 2, 3, 4, 5, 6]]`: "; their segmentation is not read",
		`, "segmentation": [], "keypoints": [1, 2, 2], "num_keypoints": 1`: "; their keypoints are not read",
		`, "attributes": {"rotation": 0.0}`:                                "", `, "attributes": {"rotation": 33.5, "occluded": false}`: "; the angles of those that are turned are not read",
	} {
		list := filepath.Join(t.TempDir(), "k.json")
		foldertest.Must(t, os.WriteFile(list, []byte(`{"images": [{"id": 1, "file_name": "a.png"}], "categories": [{"id": 1, "name": "x"}],
			"annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]`+members+`}]}`), 0o644))
		d := open(t, root, folder.Config{Boxes: []string{list}})
		if note := d.Fields()[0].Note; note != "1 boxes of 1 classes"+want {
			t.Errorf("%s: %q", members, note)
		}
		foldertest.Must(t, d.Close())
	}
}

func TestCOCO(t *testing.T) {
	root := foldertest.Files(t, map[string]string{"train/a.png": "png", "train/b.png": "png", "train/c.png": "png", "train/d.png": "png"})
	list := filepath.Join(t.TempDir(), "instances.json")
	foldertest.Must(t, os.WriteFile(list, []byte(cocoText), 0o644))
	d := open(t, root, folder.Config{Boxes: []string{list}})
	defer d.Close()
	want := []string{
		"train/a [1 2 4.5 3] 1 [0 0 8 6] 0 flags[0 1]", "train/b flags[]",
		"train/c error field boxes: a box has a negative width or height: [0 0 -1 6]",
		"train/d error field boxes: the image is not listed in " + list,
	}
	if got := objects(t, d); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := d.Meta().Schema[d.Meta().Schema.Index("box_labels")].Classes; !reflect.DeepEqual(got, []string{"cat", "dog"}) {
		t.Error("classes", got)
	}
	f := d.Fields()[0]
	if f.Found != 2 || f.Missing != 2 || f.Unused != 2 {
		t.Errorf("%+v", f)
	}
}

// TestOtherKindsOfCOCO: a file of another kind is an error that says which kind it is.
func TestOtherKindsOfCOCO(t *testing.T) {
	const one = `{"images": [{"id": 1, "file_name": "a.png"}], "annotations": [{"image_id": 1, %s}]}`
	for name, c := range map[string]struct {
		member string
		cfg    folder.Config
		want   string
	}{
		"captions as boxes": {`"caption": "x"`, folder.Config{Boxes: []string{"x.json"}}, "--boxes x.json: it has no boxes (its annotations have caption): give it by --captions"},
		"panoptic":          {`"segments_info": [{"bbox": [1, 1, 1, 1]}]`, folder.Config{Boxes: []string{"x.json"}}, "it has no boxes (its annotations have segments_info"},
		"boxes as captions": {`"bbox": [1, 1, 1, 1]`, folder.Config{Captions: []string{"x.json"}}, "--captions x.json: it has no captions (its annotations have bbox): give it by --boxes"},
		"neither":           {`"area": 1`, folder.Config{Captions: []string{"x.json"}}, "it has no captions (none of its 1 annotations has caption)"},
	} {
		t.Chdir(foldertest.Files(t, map[string]string{"a.png": "png", "x.json": fmt.Sprintf(one, c.member)}))
		if _, err := folder.Open(t.Context(), ".", c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestCaptions(t *testing.T) {
	root := foldertest.Files(t, map[string]string{"a.png": "png", "b.png": "png", "captions.json": `{"images": [{"id": 1, "file_name": "x\\a.png"}, {"id": "2", "file_name": "b.png"}],
		"annotations": [{"image_id": 1, "caption": "größer <b>"}, {"image_id": 1, "caption": "two"}]}`})
	d := open(t, root, folder.Config{Captions: []string{filepath.Join(root, "captions.json")}})
	defer d.Close()
	if got, want := objects(t, d), []string{`a ["größer <b>","two"]`, "b []"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCaptionTables(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       []string
		err        string
	}{
		"Flickr8k":  {"captions.txt", "image,caption\na.png,\"A dog , \"\"big\"\" .\"\nb.png,B\na.png,second\n", []string{`a ["A dog , \"big\" .","second"]`, `b ["B"]`}, ""},
		"Flickr30k": {"results.csv", "image_name| comment_number| comment\na.png| 0| A \"dog\" , x\na.png| 1| two\nb.png| 4   B\n", []string{`a ["A \"dog\" , x","two"]`, "b error field captions: a row of the captions has 2 cells, and the first line 3"}, ""},
		"no header": {"captions.txt", "a.png#0\tA dog\n", nil, `--captions captions.txt: a table of captions begins with a line such as "image,caption"`},
	} {
		t.Chdir(foldertest.Files(t, map[string]string{"a.png": "png", "b.png": "png", c.file: c.text}))
		d, err := folder.Open(t.Context(), ".", folder.Config{Captions: []string{c.file}})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", name, err, c.err)
			}
			continue
		}
		foldertest.Must(t, err)
		if got := objects(t, d); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		foldertest.Must(t, d.Close())
	}
}

func TestYOLO(t *testing.T) {
	root := foldertest.Files(t, map[string]string{
		"images/train/a.png": "png", "images/train/b.png": "png", "images/val/c.png": "png", "images/val/d.png": "png",
		"labels/train/a.txt": "1 0.5 0.5 0.25 0.5\n\n0 0 0 1 0 1 1\n", "labels/val/c.txt": "0 0.5 0.5 x 1\n", "labels/val/d.txt": "2 0.5 0.5 1 1\n",
		"data.yaml": "train: images/train\nnames:\n  0: cat\n  1: 'dog' # barks\nnc: 2\n",
	})
	d := open(t, root, folder.Config{Boxes: []string{"labels/{key}.txt"}})
	defer d.Close()
	want := []string{
		"train/a [3 1.5 5 4.5] 1 [0 0 8 6] 0", "train/b", `val/c error field boxes: labels/val/c.txt: line 1: "x" is no number`,
		"val/d error field boxes: labels/val/d.txt: line 1: the class 2 is not among the 2 of data.yaml",
	}
	if got := objects(t, d); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestYOLOForms(t *testing.T) {
	pose := "0 0.5 0.5 0.25 0.5 0.1 0.1 2 0.9 0.9 0\n" // two keypoints beside the box
	const above = "a error field boxes: labels/a.txt: line 1: "
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
		note  string
	}{
		"pose":             {map[string]string{"labels/a.txt": pose, "data.yaml": "names: [a]\nkpt_shape: [2, 3]\n"}, []string{"a [3 1.5 5 4.5] 0"}, "1 classes of data.yaml"},
		"pose of 2":        {map[string]string{"labels/a.txt": "0 0.5 0.5 0.25 0.5 0.1 0.1\n", "data.yaml": "kpt_shape: [1, 2]\n"}, []string{"a [3 1.5 5 4.5] 0"}, ""},
		"another pose":     {map[string]string{"labels/a.txt": pose, "data.yaml": "kpt_shape: [17, 3]\n"}, []string{above + "11 numbers: with the kpt_shape [17 3] of data.yaml there are 56"}, ""},
		"pose unsaid":      {map[string]string{"labels/a.txt": pose}, []string{above + "2 is above 1, so this is no polygon of shares of the image's width and height; for keypoints write their kpt_shape, such as [17, 3], in data.yaml"}, ""},
		"pixels":           {map[string]string{"labels/a.txt": "0 4 3 2 3\n"}, []string{above + "4 is above 1: the numbers must be shares of the image's width and height, not pixels"}, ""},
		"oriented":         {map[string]string{"labels/a.txt": "0 0.5 0 1 0.5 0.5 1 0 0.5\n"}, []string{"a [0 0 8 6] 0"}, ""},
		"beside the boxes": {map[string]string{"labels/x/a.txt": "1 0.5 0.5 0.25 0.5\n", "labels/x/classes.txt": "cat\r\ndog\r\n", "data.yaml": "names: [cat, dog]\n"}, []string{"x/a [3 1.5 5 4.5] 1"}, "2 classes of labels/x/classes.txt"},
		"only there":       {map[string]string{"labels/x/a.txt": "1 0.5 0.5 0.25 0.5\n", "labels/x/classes.txt": "cat\r\ndog\r\n"}, []string{"x/a [3 1.5 5 4.5] 1"}, "2 classes of labels/x/classes.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			key, _, _ := strings.Cut(c.want[0], " ")
			c.files["images/"+key+".png"] = "png"
			d := open(t, foldertest.Files(t, c.files), folder.Config{Boxes: []string{"labels/{key}.txt"}})
			defer d.Close()
			if got := objects(t, d); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			fields := d.Fields()
			if note := fields[len(fields)-1].Note; !strings.Contains(note, c.note) {
				t.Errorf("note %q, want %q", note, c.note)
			}
		})
	}
	root := foldertest.Files(t, map[string]string{"images/x/a.png": "png", "labels/x/a.txt": "0 0.5 0.5 0.25 0.5\n", "labels/x/classes.txt": "cat\ndog\n", "data.yaml": "names: [dog, cat]\n"})
	const want = "data.yaml: it has other names than labels/x/classes.txt"
	if _, err := folder.Open(t.Context(), root, folder.Config{Boxes: []string{"labels/{key}.txt"}}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestVOC(t *testing.T) {
	object := func(name, difficult string, box ...int) string {
		return fmt.Sprintf("<object><name>%s</name><difficult>%s</difficult><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax><ymax>%d</ymax></bndbox></object>",
			name, difficult, box[0], box[1], box[2], box[3])
	}
	root := foldertest.Files(t, map[string]string{
		"JPEGImages/a.png": "png", "JPEGImages/b.png": "png", "JPEGImages/c.png": "png", "JPEGImages/d.png": "png",
		"Annotations/a.xml": "<annotation>" + object("dog", "0", 1, 1, 8, 6) + object("cat", "1", 2, 3, 4, 5) + "</annotation>",
		"Annotations/b.xml": "<annotation></annotation>", "Annotations/c.xml": "<annotation><object>",
	})
	d := open(t, root, folder.Config{Boxes: []string{"Annotations/{stem}.xml"}})
	defer d.Close()
	got := objects(t, d)
	want := []string{
		"a [0 0 8 6] 1 [1 2 4 5] 0 flags[0 1]", "b flags[]", "c error field boxes: Annotations/c.xml: not a Pascal VOC annotation: XML syntax error on line 1: unexpected EOF",
		"d error field boxes: there is no file Annotations/d.xml",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHostileAnnotations(t *testing.T) {
	long := strings.Repeat("x", 16<<20+1)
	for name, text := range map[string]string{
		"empty": "", "a list": "[]", "no images": `{"annotations": []}`, "cut": cocoText[:len(cocoText)/2], "a long entry": `{"images": [{"file_name": "` + long,
		"two ids": `{"images": [{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}], "annotations": []}`, "deep": `{"x": ` + strings.Repeat("[", 100_000),
		"a long name": `{"` + long, "not a list": `{"images": 1}`, "another type": `{"images": [{"id": 1, "file_name": 3}]}`, "no match": `{"images": [], "annotations": []}`,
		"a box of a text": `{"images": [], "annotations": [{"image_id": 1, "bbox": "x"}]}`,
	} {
		root := foldertest.Files(t, map[string]string{"a.png": "png", "x.json": text})
		d, err := folder.Open(context.Background(), root, folder.Config{Boxes: []string{filepath.Join(root, "x.json")}})
		if err == nil {
			foldertest.Must(t, d.Close())
		}
		if err == nil || !strings.Contains(err.Error(), "x.json") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCOCOFolders: an entry that fits several images is given to one of them, for a reason that is said, or to none.
func TestCOCOFolders(t *testing.T) {
	text := func(box string) string {
		return `{"images": [{"id": 1, "file_name": "1.png"}, {"id": 2, "file_name": "2.png"}],
			"annotations": [{"image_id": 1, "category_id": 1, "bbox": [` + box + `]}], "categories": [{"id": 1, "name": "a"}]}`
	}
	train, val := text("1, 1, 1, 1"), text("2, 2, 1, 1")
	images := map[string]string{"train/1.png": "png", "train/2.png": "png", "val/1.png": "png", "val/2.png": "png"}
	both := []string{"train/1 [1 1 2 2] 0", "train/2", "val/1 [2 2 3 3] 0", "val/2"}
	onlyTrain := func(file string) []string {
		missing := " error field boxes: the image is not listed in " + file
		return []string{"train/1 [1 1 2 2] 0", "train/2", "val/1" + missing, "val/2" + missing}
	}
	for name, c := range map[string]struct {
		files map[string]string
		boxes []string
		want  []string
		note  string
		err   string
	}{
		"said":             {map[string]string{"a.json": train, "b.json": val}, []string{"train=a.json", "val=b.json"}, both, "", ""},
		"said in part":     {map[string]string{"a.json": train}, []string{"train=a.json"}, onlyTrain("train=a.json"), "", ""},
		"by the name":      {map[string]string{"r3train.json": train}, []string{"r3train.json"}, onlyTrain("train=r3train.json"), "r3train.json is for the images in train/, by its name", ""},
		"both by the name": {map[string]string{"r3train.json": train, "val2017.json": val}, []string{"r3train.json", "val2017.json"}, both, "val2017.json is for the images in val/, by its name", ""},
		"by the place":     {map[string]string{"train/_a.json": train, "val/_a.json": val}, []string{"train/_a.json", "val/_a.json"}, both, "train/_a.json is for the images in train/, by its place", ""},
		"unknown":          {map[string]string{"a.json": train}, []string{"a.json"}, nil, "", "--boxes a.json: the entry 1.png fits train/1.png and val/1.png: say which images the file is for, such as train=a.json"},
		"part of a word":   {map[string]string{"constrain.json": train}, []string{"constrain.json"}, nil, "", "the entry 1.png fits train/1.png and val/1.png"},
		"two names":        {map[string]string{"train_val.json": train}, []string{"train_val.json"}, nil, "", "the entry 1.png fits train/1.png and val/1.png"},
		"two files":        {map[string]string{"a.json": train, "b.json": val}, []string{"train=a.json", "train=b.json"}, nil, "", "train/1.png: it may be 1.png of train=a.json and 1.png of train=b.json"},
		"no folder":        {map[string]string{"a.json": train}, []string{"../x=a.json"}, nil, "", "a.json"},
		"no file":          {nil, []string{"train="}, nil, "", "give FILE, or FOLDER=FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(images)
			maps.Copy(files, c.files)
			t.Chdir(foldertest.Files(t, files))
			d, err := folder.Open(t.Context(), ".", folder.Config{Boxes: c.boxes})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %s", err, c.err)
				}
				return
			}
			foldertest.Must(t, err)
			defer d.Close()
			if got := objects(t, d); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			fields := d.Fields()
			if note := fields[len(fields)-1].Note; !strings.Contains(note, c.note) || c.note == "" && strings.Contains(note, "is for") {
				t.Errorf("note %q, want %q", note, c.note)
			}
		})
	}
}

// TestBoxesOfAnotherSize: annotations for an image of another size are a warning, or an error if a box is outside. The
// images are 8x6.
func TestBoxesOfAnotherSize(t *testing.T) {
	coco := func(w, h string, x1 int) string {
		return fmt.Sprintf(`{"images": [{"id": 1, "file_name": "a.png", "width": %s, "height": %s}], "categories": [{"id": 1, "name": "a"}],
			"annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, %d, 1]}]}`, w, h, x1)
	}
	const voc = "<annotation><size><width>16</width><height>12</height></size><object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>%d</xmax><ymax>2</ymax></bndbox></object></annotation>"
	const other = "the boxes are for an image of 16x12 pixels, and this one has 8x6"
	for name, c := range map[string]struct{ file, text, warning, err string }{
		"the same":     {"x.json", coco("8", "6", 20), "the box [0 0 20 1] is outside of the image", ""},
		"unknown":      {"x.json", coco("0", "0", 20), "the box [0 0 20 1] is outside of the image", ""},
		"nonsense":     {"x.json", coco(`"?"`, "null", 20), "the box [0 0 20 1] is outside of the image", ""},
		"text":         {"x.json", coco(`"16"`, "12.0", 8), other, ""},
		"another":      {"x.json", coco("16", "12", 9), other, ""},
		"outside":      {"x.json", coco("16", "12", 10), "", other + ": the box [0 0 10 1] is outside of it"},
		"turned":       {"x.json", coco("6", "8", 6), "the boxes are for an image of 6x8 pixels", ""}, // without EXIF
		"VOC":          {"{key}.xml", fmt.Sprintf(voc, 8), other, ""},
		"VOC, outside": {"{key}.xml", fmt.Sprintf(voc, 16), "", other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(foldertest.Files(t, map[string]string{"a.png": "png", strings.ReplaceAll(c.file, "{key}", "a"): c.text}))
			d := open(t, ".", folder.Config{Boxes: []string{c.file}})
			defer d.Close()
			var s formats.Sample
			err := d.Read(0, &s)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if w := d.Warning("a.png"); (w == "") != (c.warning == "") || !strings.Contains(w, c.warning) {
				t.Errorf("%q, want %q", w, c.warning)
			}
		})
	}
}
