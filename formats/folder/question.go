package folder

import (
	"fmt"
)

// Question returns an error that asks what files are that may be fields of images, such as 1_mask.png beside 1.jpg,
// and names the answers. It is nil if there are none or few, and if Config has a table of labels or says it by Fields, Boxes or
// Captions. The Dataset takes all images as samples of their own, so whoever makes a dataset of it should ask first.
func (d *Dataset) Question() error {
	err := d.questions.Ask(d.in.String())
	if err != nil && d.unusedDescription != "" {
		err = fmt.Errorf("%w. Or give the table that dsconv unpack wrote: --labels %s", err, d.unusedDescription)
	}
	return err
}
