// Package pixel has what all of preprocess stands on: decoded images and parts of them, their
// colours and EXIF orientation, and the errors that callers tell apart. It imports the contract
// (package formats) and nothing else of dsconv.
package pixel
