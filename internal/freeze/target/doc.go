// Package target is the contract of a place where the objects of a repository lie.
// internal/freeze/target/dir keeps them in a folder, internal/freeze/target/s3 in a bucket, and internal/freeze/target/targettest
// checks the promises.
package target
