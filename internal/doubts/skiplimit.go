package doubts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limit is a number of images, or a share of all. The zero value is the default.
type Limit struct {
	text    string
	count   int
	percent float64
}

// few is how many images may always be left out by default: in a small set, one bad image is more than 1 %.
const few = 10

// ParseLimit reads "N" or "P%"; "" is the default: 1 %, and at least few.
func ParseLimit(text string) (Limit, error) {
	l := Limit{text: text, count: -1}
	var err error
	share, isShare := strings.CutSuffix(text, "%")
	switch {
	case text == "":
		return Limit{}, nil
	case isShare:
		l.percent, err = strconv.ParseFloat(share, 64)
	default:
		l.count, err = strconv.Atoi(text)
	}
	if err != nil || l.count < 0 && !isShare || !(l.percent >= 0 && l.percent <= 100) {
		return l, fmt.Errorf("%q: give a number of images, such as 20, or a share of them, such as 5%%", text)
	}
	return l, nil
}

// allows reports whether skipped of total images may be left out.
func (l Limit) allows(skipped, total int) bool {
	switch {
	case l.text == "":
		return skipped <= max(few, total/100)
	case l.count >= 0:
		return skipped <= l.count
	}
	return skipped <= int(math.Floor(l.percent*float64(total)/100))
}

// Check returns an error if skipped of total images are more than may be left out. example is one of them, with the cause.
func (l Limit) Check(skipped, total int, example string) error {
	if l.allows(skipped, total) {
		return nil
	}
	limit := fmt.Sprintf("1 %% (and %d)", few)
	if l.text != "" {
		limit = l.text
	}
	return fmt.Errorf("at least %d of %d images would be left out, more than %s, such as %s; mend or exclude them, or allow more: --max-skipped 100%% packs all that can be packed, and the report lists the others",
		skipped, total, limit, example)
}
