// Package diff tells what differs between two datasets, of any formats: which keys only one of them
// has, and of the keys that both have, whether the stored bytes, the pixels, the labels, the split or
// the columns differ.
//
//	a, err := dsconv.Open("monday.lmdb")
//	...
//	b, err := dsconv.Open("images") // a folder, too
//	...
//	report, err := diff.Run(ctx, a, b, diff.Options{OnChange: func(c diff.Change) {
//		fmt.Println(c.Kind, c.Key, c.What)
//	}})
//	...
//	fmt.Println(report.Added, report.Removed, report.Changed, report.Same())
//
// Labels are compared by class name, so that datasets with different indices for the same classes
// are equal. If both datasets record the same checksum for a sample, its values are taken to be
// equal and are not read. Otherwise they are read, and images whose bytes differ are decoded to
// compare their pixels.
package diff
