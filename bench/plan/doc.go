// Package plan says what packing a folder of images would bring, before it is packed. It packs a sample of the images
// in each size and encoding into a temporary folder, loads that with the loader of training, and extrapolates: bytes
// the time of the packing, and the time of an epoch.
//
//	p, err := plan.Run(ctx, images, options)
//	...
//	for _, row := range p.Rows { // row.Disk, row.PackSeconds, row.EpochSeconds and more
//		fmt.Println(row.Format, row.Encode, row.Lossless, row.Sampled, "images were tried")
//	}
//
// All figures are measured on this machine. Nothing is written but the temporary folder, which is removed.
package plan
