// Package bench measures how the format of a dataset changes the time of an epoch. It uses the
// same loader, augmentations, batches and order on each dataset, also on a folder of images, so
// that all differences come from the format.
//
//	report, err := bench.Run(ctx, []string{"images", "out.lmdb"}, bench.Options{})
//	...
//	for _, d := range report.Datasets {
//		fmt.Println(d.Path, d.ImagesPerSecond, d.Ratio, d.Diagnosis)
//	}
//
// [Run] opens the datasets one after another and reads each once to warm up. The rounds that
// follow are interleaved (A B C A B C), so that a machine that slows down for a while slows
// down all. A dataset's ratio to the first is the median of the ratios within each
// round; the [Report] has all rounds.
//
// The batches are taken as fast as they come, or by a consumer that needs a given time for each image
// (Options.Consume), like a GPU.
//
// The reader's clock times the stages of a worker (read, decode, augment, collate). If more
// goroutines want to run than there are cores, these times include waiting for a core; the
// report also has the CPU time of the whole process.
package bench
