package chunk

// The limits of files. A writer and a reader refuse what exceeds them, with kind quota.
const (
	MaxFileBytes = 32 << 20 // of a file, chunk or pack
	MaxTextBytes = 16 << 20 // of a chunk, decompressed
	MaxRecords   = 1 << 16  // of a chunk
	MaxParts     = 4096     // of a pack
	MaxParents   = 1024     // that a header names; also chunks it rewrites

	// MaxLineBytes bounds a record. The longest there can be is a prompt of
	// control characters, six times as long in JSON as it is.
	MaxLineBytes = 8 << 20

	maxHeaderBytes = 256 << 10
	maxIndexBytes  = 1 << 20
	maxWindow      = 8 << 20 // of zstd: what levels up to 19 of its command need
	maxDepth       = 64
	maxElements    = 4096 // of a list, and of an object
)
