package sharded

// DatasetsIn lists the datasets that lie directly in a folder, by the paths that open them: files and folders by
// their names, shards as a pattern. It opens none of them.
func DatasetsIn(dir string) []string { return datasetsIn(dir) }
