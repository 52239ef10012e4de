package colony

import "context"

// Value is what a file of a vault is read as.
type Value = value

// DecodeJSON reads one.
var DecodeJSON = decodeJSON

// OtherHint is the hint of an error that a tolerant reader would not return.
const OtherHint = otherHint

// PackPayload is what Pack does with what it has compressed, without what Amber
// adds to a manifest: so the files of the original client are made.
func PackPayload(ctx context.Context, d Draft, plaintext, payload []byte) (Packed, error) {
	return d.assemble(ctx, plaintext, payload, func(*value, []string) {})
}

// SignedBytes are the bytes of the manifest that its signature is over.
func (m Manifest) SignedBytes() []byte { return m.value.without("signature").Canonical() }

// Types of what a reader reads, and of its options.
type (
	Manifest    = manifest
	Name        = fileName
	Pointer     = pointer
	ReadOptions = readOptions
)

// Kinds of files, as their names say them.
const (
	LatestFile   = latestFile
	ManifestFile = manifestFile
	PartFile     = partFile
)

// Readers.
var (
	Unpack        = unpack
	ParseManifest = parseManifest
	ParsePointer  = parsePointer
	ParseName     = parseName
)
