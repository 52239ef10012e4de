package api

import "github.com/amber-memory/amber"

// Health is what a server says of itself. The last three are there where the request had a key.
type Health struct {
	Version  string
	AuthMode string // api_key, trusted or dev
	Account  string
	User     string
	Role     string
}

// Written is what came of a file that was written.
type Written struct {
	URI     string // where it is: the name that was asked for, or the request fails
	Task    string // makes its vector; "" where none was begun
	Indexed bool   // its vector is there
}

// File is a file to be written.
type File struct {
	URI, Content string
}

// Batch is what came of many files.
type Batch struct {
	Task    string
	Indexed bool // all vectors are there
}

// Query asks for the files that are nearest to a text.
type Query struct {
	Text    string
	Targets []string // folders; one that is not there finds nothing
	Limit   int
}

// Found is a file that was found. The score is opaque.
type Found struct {
	URI   string
	Score float64
}

// Missing is what lacks a vector below a folder.
type Missing struct {
	Expected int
	Count    int // of records that are missing, of any kind
	URIs     []string
	Whole    bool // URIs are all of them
}

// Rebuilt is what came of making vectors again.
type Rebuilt struct{ Made, Failed int }

// Stat is what is known of a file or folder.
type Stat struct {
	Size     int64
	Modified amber.Time
	IsDir    bool
}
