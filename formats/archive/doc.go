// Package archive reads the files of an archive: zip, tar, tar.gz and tar.zst. Zips and plain tars are read where they
// lie, and no archive is ever changed.
//
//	files, err := archive.Open(ctx, "CUB_200_2011.tgz")
//	...
//	d, err := folder.OpenTree(ctx, files, folder.Config{}) // which closes files too
//
// dsconv.Open and dsconv.OpenSource do this for any path of an archive.
//
// # What is read
//
// A zip's members may be stored or compressed by deflate or zstd. A tar may have GNU's or PAX's long names. A tar
// in a tar is a folder of the tar's name without ".tar": n01440764.tar of ILSVRC2012_img_train.tar is n01440764/.
// A hard link is the last member of its target's name before it, and a symbolic link to a regular file of the same tar is
// that file. If a name occurs twice, the last one counts, as it would after unpacking.
//
// If everything in the archive lies in one folder that has folders itself, as in a zip of a folder of classes, that
// folder is the root; folders named train, val, valid, validation or test are so only for OpenMounted. A path that goes on after the archive's name chooses
// another root: "x.zip/images", or "x.zip/" for the archive's own.
//
// # What is refused
//
// A member that cannot be read has a cause, and no other member is affected. It is encrypted, compressed by a method
// that dsconv does not read, sparse, a link out of the archive, a device; its bytes overlap those of another
// member; it unpacks to more than 64 MiB and more than 32 times its compressed size. Stat and ReadInto return the
// cause, and Refused lists members whose names cannot be opened: absolute ones, names with "..", names that are not UTF-8,
// earlier ones of the same name; and a tar that is not whole: it has no end mark, or more than padding after it. An archive that is truncated or damaged, or that unpacks to more than 1 GiB and more than 100
// times its size, is an error of Open.
//
// # What it costs
//
// Open reads the directory of a zip, the headers of a tar, and all of a compressed tar. A million members take about
// 150 MB of memory. A member of a zip or a tar takes one read. A compressed tar is decompressed once, by Open, into a
// file without a name in os.TempDir(), where nothing is left of it when the FS is closed or the process is killed: there must
// be space for the tar.
package archive
