package parity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Certificate is what Run found.
type Certificate struct {
	// Equal says that no default path differs.
	Equal  bool   `json:"equal"`
	Judge  Judge  `json:"judge"`
	Dsconv Dsconv `json:"dsconv"`
	// Recipe is how the dataset was packed.
	Recipe  map[string]string `json:"recipe"`
	Samples int               `json:"samples"` // of the dataset
	Chosen  int               `json:"chosen"`  // of those, by Seed
	Seed    uint64            `json:"seed"`
	Paths   []*Path           `json:"paths"`
	// Missing are the keys of chosen samples that the source does not have.
	Missing []string `json:"missing"`
	// Changed are those whose file is another one than when it was packed: what is stored is
	// not compared with it.
	Changed []string `json:"changed"`
	Notes   []string `json:"notes"`
}

// Judge is what images are compared with.
type Judge struct {
	Python      string `json:"python"`
	Pillow      string `json:"pillow"`
	JPEG        string `json:"jpeg"`                  // Pillow's JPEG library with its version
	Torchvision string `json:"torchvision,omitempty"` // "" where it is not installed or not needed
}

// Dsconv is what makes dsconv's pixels.
type Dsconv struct {
	Decoder        string `json:"decoder"`
	DecoderVersion string `json:"decoder_version"`
	Resampler      string `json:"resampler"`
}

// Path is one way that pixels take, over all images.
type Path struct {
	Name string `json:"name"`
	What string `json:"what"`
	// Allowed is why the path may differ, "" if it may not.
	Allowed string `json:"allowed,omitempty"`

	Images  int `json:"images"`         // that were compared
	Differ  int `json:"differ"`         // of those
	Largest int `json:"largest"`        // difference of two values; all there is where shapes differ
	Bits    int `json:"bits,omitempty"` // of those values: Largest is of 255 or of 65535
	// PSNR in dB, null where nothing differs: of the mean square of all images, and of the
	// image that is furthest off.
	PSNR    *float64 `json:"psnr"`
	MinPSNR *float64 `json:"min_psnr"`
	// Worst is the key of the image that differs most, Cause why it cannot be compared.
	Worst string `json:"worst,omitempty"`
	Cause string `json:"cause,omitempty"`
	// NotJudged counts images that Pillow cannot be asked about, by reason.
	NotJudged map[string]int `json:"not_judged,omitempty"`
	// Refused are images that were not decoded.
	Refused []Refusal `json:"refused,omitempty"`

	worst   difference
	squares []float64 // of the images that differ
}

// Refusal is an image that one side or both do not decode.
type Refusal struct {
	Key    string `json:"key"`
	Dsconv string `json:"dsconv,omitempty"` // why, "" if it decodes it
	Pillow string `json:"pillow,omitempty"`
	// Excused says that the two do not disagree about the image: both refuse it, or dsconv
	// says that it does not support its kind.
	Excused bool `json:"excused"`
}

// Equal says that the path is as it has to be.
func (p *Path) Equal() bool {
	disagrees := slices.ContainsFunc(p.Refused, func(r Refusal) bool { return !r.Excused })
	return p.Allowed != "" || p.Differ == 0 && !disagrees
}

// Verdict says what is wrong with the path, "" if nothing is.
func (p *Path) Verdict() string {
	if p.Equal() {
		return ""
	}
	var what []string
	if p.Differ > 0 {
		text := fmt.Sprintf("%d of %d images differ, most %s", p.Differ, p.Images, p.Worst)
		if p.Cause != "" {
			text += ": " + p.Cause
		} else {
			text += fmt.Sprintf(" by %d", p.Largest)
		}
		what = append(what, text)
	}
	for _, r := range p.Refused {
		switch {
		case r.Excused:
		case r.Dsconv == "":
			what = append(what, fmt.Sprintf("%s: only dsconv decodes it; Pillow: %s", r.Key, r.Pillow))
		default:
			what = append(what, fmt.Sprintf("%s: only Pillow decodes it; dsconv: %s", r.Key, r.Dsconv))
		}
	}
	return p.Name + ": " + strings.Join(what, "; ")
}

// add counts an image. What comes out does not depend on the order.
func (p *Path) add(key string, d difference) {
	p.Images++
	p.Bits = max(p.Bits, d.bits)
	if d.equal() {
		return
	}
	p.Differ++
	p.squares = append(p.squares, d.square)
	if p.Worst == "" || further(d, p.worst) > 0 || further(d, p.worst) == 0 && key < p.Worst {
		p.Worst, p.worst = key, d
	}
}

// further compares two differences: what cannot be compared is furthest off.
func further(a, b difference) int {
	if (a.cause == "") != (b.cause == "") {
		return cmp.Compare(len(a.cause), len(b.cause))
	}
	return cmp.Or(cmp.Compare(a.largest<<(16-a.bits), b.largest<<(16-b.bits)), cmp.Compare(a.square, b.square))
}

func (p *Path) notJudged(why string) {
	if p.NotJudged == nil {
		p.NotJudged = map[string]int{}
	}
	p.NotJudged[why]++
}

// finish computes what stands on all images.
func (p *Path) finish() {
	slices.SortFunc(p.Refused, func(a, b Refusal) int { return cmp.Compare(a.Key, b.Key) })
	if p.Differ == 0 {
		return
	}
	p.Largest, p.Bits, p.Cause = p.worst.largest, p.worst.bits, p.worst.cause
	slices.Sort(p.squares) // a sum of floats depends on the order
	sum := 0.0
	for _, s := range p.squares {
		sum += s
	}
	mean, least := psnr(sum/float64(p.Images)), psnr(p.squares[len(p.squares)-1])
	p.PSNR, p.MinPSNR = &mean, &least
}
