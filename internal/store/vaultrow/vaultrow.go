// Package vaultrow says what a database has to offer that holds the files of vaults as rows. Package internal/share/colony/shelf makes vaults
// of it, and internal/store/postgres has the rows.
package vaultrow

import "context"

// Bounds of what is stored.
const (
	// MaxBytes is the longest file, its first line and its content together.
	MaxBytes = 64<<20 + HeadBytes
	// HeadBytes is how much of a file a reader needs to recognise it.
	HeadBytes = 4096
	// PieceBytes is how much of a file one row holds.
	PieceBytes = 256 << 10
)

// File is a file that is not read.
type File struct {
	Place string // 64 hexadecimal digits
	Size  int64  // what its rows hold together
	Head  []byte // its first HeadBytes bytes, or all of it
}

// Tx is a transaction on the files of one vault. It is for one goroutine.
type Tx interface {
	// List returns every file by its place, and whether a file was ever put.
	List() (files []File, exists bool, err error)
	// Look returns one file; found is false where there is none.
	Look(place string) (f File, found bool, err error)
	// Read returns the bytes of a file. Errors: damaged where they are more than MaxBytes, or rows are missing.
	Read(place string) (b []byte, found bool, err error)
	// Put stores a file, whatever was there. Errors: invalid for a place that is none, and for more than MaxBytes.
	Put(place string, b []byte) error
	// Remove removes a file, and reports whether it was there.
	Remove(place string) (bool, error)
}

// Rows is the vault of one agent. It is safe for concurrent use, also by several programs. Errors beside those of the function:
// not_found where there is no such agent; busy; unreachable.
type Rows interface {
	// View shows the vault of one moment.
	View(ctx context.Context, op string, fn func(Tx) error) error
	// Update changes it in a turn of its own among all writers. The changes are durable as a whole when it returns
	// nil; otherwise none is, but where the outcome is not known.
	Update(ctx context.Context, op string, fn func(Tx) error) error
}

// IsPlace reports whether a text is the place of a file.
func IsPlace(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}
