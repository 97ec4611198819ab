package page

import (
	"encoding/json"
	"math"
	"strconv"
)

// chart is a picture that the page's script draws from its data.
type chart struct {
	Title string
	Data  picture
}

// picture is one of the kinds of charts that page.js knows.
type picture interface{ name() string }

// bars are horizontal bars, one or several for each label.
type bars struct {
	Unit    unit     `json:"unit"`
	Labels  []string `json:"labels"`
	Series  []series `json:"series"`
	Stacked bool     `json:"stacked,omitempty"`
	// Roles are the colours of a single series' bars, if they differ.
	Roles []string `json:"roles,omitempty"`
	// First: the figure beside a stack is the first series', not the sum.
	First bool `json:"first,omitempty"`
	// Wide labels are commands, which need two lines.
	Wide bool `json:"wide,omitempty"`
}

// series is a value for each label. Role is the name of its colour.
type series struct {
	Name   string  `json:"name"`
	Role   string  `json:"role"`
	Values []value `json:"values"`
}

// lanes are what several workers did over time.
type lanes struct {
	Lanes []string `json:"lanes"`
	Roles []role   `json:"roles"`
	Spans []span   `json:"spans"`
	// Shown is the second up to which the page shows it at first.
	Shown value `json:"shown"`
	// Panels are below the lanes, over the same time.
	Panels []panel `json:"panels,omitempty"`
}

type role struct {
	Name string `json:"name"`
	Role string `json:"role"`
}

// span is the time from Begin to End in a lane, in seconds. Role is an index of the roles.
type span struct {
	Lane, Role, Batch int
	Begin, End        float64
}

// MarshalJSON writes it as a list, as there are many.
func (s span) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{s.Lane, s.Role, s.Batch, value(s.Begin), value(s.End)})
}

// lines are panels of lines over a common axis.
type lines struct {
	Axis   string   `json:"axis"`
	Unit   unit     `json:"unit,omitempty"`   // of the axis
	Labels []string `json:"labels,omitempty"` // of the axis, if its values are not to scale
	Panels []panel  `json:"panels"`
	Mark   string   `json:"mark,omitempty"` // a label to point at
	Text   string   `json:"text,omitempty"` // what is said there
	Bands  []band   `json:"bands,omitempty"`
}

// band is a part of the axis with a name.
type band struct {
	Name  string `json:"name"`
	Begin value  `json:"begin"`
	End   value  `json:"end"`
}

type panel struct {
	Title string `json:"title"`
	Unit  unit   `json:"unit"`
	Lines []line `json:"lines"`
}

// line has points of axis and value, or with labels an index and a value.
type line struct {
	Name   string     `json:"name"`
	Role   string     `json:"role"`
	Dashed bool       `json:"dashed,omitempty"`
	Points [][2]value `json:"points"`
}

func (bars) name() string  { return "bars" }
func (lanes) name() string { return "lanes" }
func (lines) name() string { return "lines" }

// unit says how the page writes a value.
type unit string

const (
	inSeconds      unit = "s"
	inMicroseconds unit = "µs"
	inBytes        unit = "B"
	inBytesASecond unit = "B/s"
	inShares       unit = "%"
	inCores        unit = "cores"
)

// value is a number in the data of a chart: six digits are more than a picture shows, and what is no number is null.
type value float64

// MarshalJSON writes it so.
func (v value) MarshalJSON() ([]byte, error) {
	x := float64(v)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return nil, err
	}
	return json.Marshal(rounded)
}
