package repo

import "hash/crc32"

// MaxBlobBytes is how long the plaintext of a blob may be.
const MaxBlobBytes = 64 << 20

// Pages of a database have one of the sizes SQLite knows, powers of two.
const (
	MinPageSize = 512
	MaxPageSize = 64 << 10

	minPageShift = 9
	maxPageShift = 16
)

// Bounds of objects. Amber writes no object that is larger.
const (
	defaultPackBytes = 4 << 20       // header and blobs of a pack; a larger blob has a pack of its own
	maxPackData      = 128 << 20     // header and blobs of a pack that is read
	maxPackBlobs     = 1 << 16       // blobs of a pack
	maxIndexBlobs    = 1 << 17       // a writer begins another index object behind so many
	maxIndexPacks    = maxIndexBlobs // packs of an index object
	maxIndexBytes    = indexHeaderBytes + 2*maxIndexBlobs*entryBytes + maxIndexPacks*indexPackBytes
	tailBytes        = 64 << 10  // read of the end of a pack, most often all of its directory
	maxGapBytes      = 128 << 10 // a gap between blobs that is read rather than asked around
	maxProblems      = 1000      // listed one by one
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
