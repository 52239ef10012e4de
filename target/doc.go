// Package target is the contract of a place where the objects of a repository lie.
// target/dir keeps them in a folder, target/s3 in a bucket, and target/targettest
// checks the promises.
package target
