// Package chunk reads and writes the files through which memory travels: bytes
// to records and back, without a disk.
//
// A chunk is one zstd frame of JSON Lines: a [Header], records one a line, and
// the signature where there is one. A pack is several chunks behind an index,
// byte for byte, in one file. The name of a file is the SHA-256 of its bytes.
//
//	chunk   zstd( {"format":"amber-sync/1",…}\n {"memory":{…}}\n … {"signature":{…}}\n )
//	pack    skippable frame( {"format":"amber-pack/1","parts":[…]}\n ) chunk chunk …
//
// [Encode] and [EncodePack] write, [Open] takes a file apart, [Decode] reads a
// chunk. Nothing of a file is looked at before its hash has been compared, and
// nothing of a chunk is returned unless all of it is in order. Files are written
// by strangers: reading one costs at most what the limits of this package say,
// whatever is in it.
//
// All functions are safe for concurrent use. docs/format/sync.md tells the
// format to the byte.
package chunk
