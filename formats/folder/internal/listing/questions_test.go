package listing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/folder/internal/foldertest"
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
		}
	}
}

func open(t *testing.T, root string, cfg folder.Config) *folder.Dataset {
	t.Helper()
	d, err := folder.Open(context.Background(), root, cfg)
	foldertest.Must(t, err)
	return d
}
