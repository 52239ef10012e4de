package api

// Health is what a server says of itself. The last three are there where the request had a key.
type Health struct {
	Version  string
	AuthMode string // api_key, trusted or dev
	Account  string
	User     string
	Role     string
}

// File is a file to be written.
type File struct {
	URI, Content string
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
