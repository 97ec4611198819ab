// Package verify finds damage in a dataset: it checks everything that is recorded about it, so that
// every flipped bit is found. These are the checksum of every block of every file; and the key, order,
// location, size, encoding, label and checksum of every sample.
//
//	report, err := verify.Run(ctx, dsconv.Formats(), "out.lmdb", verify.Options{})
//	...
//	if !report.Sound() {
//		fmt.Println(report.Dataset, report.Blocks, report.Samples)
//	}
//
// edit.Repair restores what is damaged from the images that the dataset was packed from.
package verify
