package listing_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

func TestQuestions(t *testing.T) {
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)) + " ")
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		files string
		want  []string // in the question; none if there is none
	}{
		"images":               {many("c/#.jpg", 5), nil},
		"one pair":             {many("c/#.jpg", 5) + "c/1.png", nil},
		"few pairs":            {many("c/#.jpg", 40) + "c/1.png c/2.png", nil},
		"pairs":                {many("c/#.jpg c/#.png", 4), []string{"4 images", "c/0.jpg and c/0.png", "'mask={key}.png'", "--field none"}},
		"suffixes":             {many("c/#.jpg c/#_mask.png", 4), []string{"c/0.jpg and c/0_mask.png", "'mask={key}_mask.png'"}},
		"other suffixes":       {many("#.jpg #-seg.png", 4), []string{"'mask={key}-seg.png'"}},
		"no partner":           {many("c/a#.jpg c/#_mask.png", 4), nil},
		"masks":                {many("images/#.jpg masks/#.png", 4), []string{"images/0.jpg and masks/0.png", "'image=images/{key}.*' --field 'mask=masks/{key}.png'"}},
		"masks in splits":      {many("train/images/#.jpg train/masks/#.png val/images/#.jpg val/masks/#.png", 4), []string{"'mask={split}/masks/{key}.png'"}},
		"VOC":                  {many("JPEGImages/#.jpg Annotations/#.xml", 4), []string{"--boxes 'Annotations/{key}.xml'"}},
		"YOLO":                 {many("images/train/#.jpg labels/train/#.txt", 4), []string{"--boxes 'labels/{key}.txt'"}},
		"Oxford Pets":          {many("images/#.jpg annotations/trimaps/#.png", 4), []string{"'image=images/{key}.*' --field 'mask=annotations/trimaps/{key}.png'"}},
		"trimaps in splits":    {many("train/images/#.jpg train/trimaps/#.png", 4), []string{"'mask={split}/trimaps/{key}.png'"}},
		"classes of masks":     {many("masks/#.jpg no_masks/#.jpg", 4), nil},
		"other stems":          {many("images/a#.jpg masks/#.jpg", 4), nil},
		"Carvana":              {many("train/#.jpg train_masks/#_mask.gif", 4), []string{"train/0.jpg and train_masks/0_mask.gif", "'image=train/{key}.*' --field 'mask=train_masks/{key}_mask.gif'"}},
		"masks of splits":      {many("train/#.jpg train_masks/#.png val/#.jpg val_masks/#.png", 4), []string{"of the same name in train_masks/", "'image=train/{key}.*' --field 'mask=train_masks/{key}.png'"}},
		"ISIC":                 {many("Training_Input/ISIC_#.jpg Training_GroundTruth/ISIC_#_segmentation.png", 4), []string{"'image=Training_Input/{key}.*' --field 'mask=Training_GroundTruth/{key}_segmentation.png'"}},
		"Cityscapes":           {many("leftImg8bit/train/a/a_#_leftImg8bit.png gtFine/train/a/a_#_gtFine_labelIds.png gtFine/train/a/a_#_gtFine_color.png", 4), []string{"'image=leftImg8bit/{key}_leftImg8bit.*' --field 'mask=gtFine/{key}_gtFine_labelIds.png'"}},
		"CamVid":               {many("images/#.png labels/#_L.png", 4), []string{"'image=images/{key}.*' --field 'mask=labels/{key}_L.png'"}},
		"CamVid in splits":     {many("train/a#.png train_labels/a#_L.png", 4), []string{"'image=train/{key}.*' --field 'mask=train_labels/{key}_L.png'"}},
		"DeepGlobe":            {many("train/#_sat.jpg train/#_mask.png", 4), []string{"'image={key}_sat.*' --field 'mask={key}_mask.png'"}},
		"Supervisely":          {many("ds/img/#.jpg ds/ann/#.jpg.json ds/masks_machine/#.jpg.png", 4), []string{"'image={class}/img/{key}.*' --field 'mask={class}/masks_machine/{key}.jpg.png'"}},
		"Supervisely's JSON":   {many("img/#.jpg ann/#.jpg.json", 4), []string{"'annotation=ann/{key}.jpg.json'"}},
		"many masks":           {many("a/#.jpg b/#_mask.png", 2500), []string{"'image=a/{key}.*' --field 'mask=b/{key}_mask.png'"}},
		"masks of classes":     {many("train/cat/#.jpg train_masks/cat/#.png", 4), []string{"'image=train/{key}.*' --field 'mask=train_masks/{key}.png'"}},
		"with and without":     {many("with_mask/#.jpg without_mask/#.jpg", 4), nil},
		"left and right":       {many("a/#.jpg a/#_L.jpg", 4), nil},
		"texts beside":         {many("c/#.jpg c/#.txt", 4), nil},
		"a class named labels": {many("labels/#.jpg cats/#.jpg", 4), nil},
	} {
		root := foldertest.Tree(t, strings.Fields(c.files)...)
		for _, cfg := range []folder.Config{{}, {Fields: []string{"none"}}} {
			d := open(t, root, cfg)
			err := d.Question()
			if asked := err != nil; asked != (len(c.want) > 0 && cfg.Fields == nil) {
				t.Errorf("%s: %v", name, err)
			}
			for _, want := range c.want {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", name, err, want)
				}
			}
			foldertest.Must(t, d.Close())
			if err != nil {
				checkAnswer(t, name, root, err.Error())
			}
		}
	}
}

var flag = regexp.MustCompile(`--(field|boxes) '([^']+)'`)

// checkAnswer checks that the flags that a question names pair the files: there is nothing that belongs to no image, and nothing missing.
func checkAnswer(t *testing.T, name, root, question string) {
	t.Helper()
	var cfg folder.Config
	for _, f := range flag.FindAllStringSubmatch(question, -1) {
		if f[1] == "boxes" {
			cfg.Boxes = append(cfg.Boxes, f[2])
		} else {
			cfg.Fields = append(cfg.Fields, f[2])
		}
	}
	d := open(t, root, cfg)
	for _, f := range d.Fields() {
		if f.Found == 0 || f.Missing > 0 || f.Unused > 0 {
			t.Errorf("%s: %s gives %+v", name, question, f)
		}
	}
	foldertest.Must(t, d.Close())
}

func open(t *testing.T, root string, cfg folder.Config) *folder.Dataset {
	t.Helper()
	d, err := folder.Open(context.Background(), root, cfg)
	foldertest.Must(t, err)
	return d
}
