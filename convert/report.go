package convert

import "time"

// Skip is an input that is not in the dataset, and why.
type Skip struct {
	Path   string `json:"path"`
	Cause  string `json:"cause"`
	Action string `json:"action"` // "skipped"
}

// Warning is an input that is in the dataset though something is odd about it.
type Warning struct {
	Path  string `json:"path"`
	Cause string `json:"cause"`
}

// Report is what a run did. Found = Written + len(Skipped) + Failed.
type Report struct {
	Path     string    `json:"path"`
	Found    int       `json:"found"`
	Written  int       `json:"written"`
	Failed   int       `json:"failed"`
	Skipped  []Skip    `json:"skipped,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	Oriented int       `json:"oriented,omitempty"` // images whose EXIF asks for a rotation
	Resumed  int       `json:"resumed,omitempty"`  // positions that an earlier run had done
	BytesIn  int64     `json:"bytes_in"`
	BytesOut int64     `json:"bytes_out"` // of the images as written
	Shards   int       `json:"shards"`
	Varying  bool      `json:"varying,omitempty"` // raw images of more than one shape
	Seconds  float64   `json:"seconds"`
	// Stages are seconds of work, added up over goroutines; Waited is how long the writer
	// waited for them.
	Stages Stages `json:"stages"`
}

// Stages are seconds that the parts of a run took.
type Stages struct {
	Read    float64 `json:"read"`
	Process float64 `json:"process"`
	Write   float64 `json:"write"`
	Waited  float64 `json:"waited"`
}

// Progress is how far a run is.
type Progress struct {
	Done, Total int // positions of the plan
	Skipped     int
	BytesIn     int64
	Elapsed     time.Duration
}
