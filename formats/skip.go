package formats

// Skip is something in a source that is no sample of the dataset, such as a sample without an image.
type Skip struct {
	Path  string `json:"path"`
	Cause string `json:"cause"`
	// Missing: a table, a list or a link names it, and there is no such file.
	Missing bool `json:"-"`
}

// Filed is a Dataset whose path does not tell which files it has, such as those of other programs.
type Filed interface {
	// DataFiles lists the paths of the data files. The caller owns the list.
	DataFiles() []string
}

// Skipper is a Dataset that knows what its source has besides its samples. A pack counts and lists it.
type Skipper interface {
	// Skips lists what was left out, and why. The caller must not change it.
	Skips() []Skip
}
