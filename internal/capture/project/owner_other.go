//go:build !unix

package project

// ownFile reports whether a file belongs to the user. Folders that all share
// are not a habit of this system.
func ownFile(string) bool { return true }

// mine reports whether a file belongs to the user.
func mine(string) bool { return true }

// owner is the user id of the owner of a file or folder: here there are none.
func owner(string) int64 { return -1 }
