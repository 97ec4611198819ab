package folder

// Skip is an input that is not part of the dataset, and the reason.
type Skip struct {
	Path  string `json:"path"`
	Cause string `json:"cause"`
}

// skipsOf returns what was left out while the files were listed.
func skipsOf(lists ...[]skip) []Skip {
	var all []Skip
	for _, list := range lists {
		for _, k := range list {
			all = append(all, Skip{Path: k.path, Cause: k.cause})
		}
	}
	return all
}
