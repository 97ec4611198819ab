// Package bench measures what the format of a dataset does to the time of an epoch: the
// same loader, augmentations, batches and order on each dataset, a folder of images being
// one of them, so that the difference is the format's and nothing else's.
//
// [Run] opens the datasets one after another and reads each once to warm up. Then come
// the rounds, interleaved (A B C A B C), so that a machine that slows down for a while
// does so to all. A dataset's ratio to the first is the median of the ratios within each
// round; all rounds are kept in the [Report].
//
// The batches go to one of three consumers: none, which takes them as fast as they come;
// one that needs a given time for each image (Options.Consume), in place of a GPU; the
// reference trainer (Options.Train).
//
// The stages of a worker (read, decode, augment, collate) are timed by the reader's clock
// while the worker is at them. Where more goroutines want to run than there are cores,
// the time in which a worker waits for a core is in them as well; the CPU time of the
// whole process is reported beside.
package bench
