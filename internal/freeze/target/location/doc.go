// Package location says where repositories of snapshots lie: a [Location] is a folder
// or a part of a bucket, and [Known] is the list of the ones that were added to a
// home under a name. Packages internal/freeze/target/dir and internal/freeze/target/s3 store the objects.
package location
