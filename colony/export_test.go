package colony

import "context"

// PackPayload is what Pack does with what it has compressed, without what Amber
// adds to a manifest: so the files of the original client are made.
func PackPayload(ctx context.Context, d Draft, plaintext, payload []byte) (Packed, error) {
	return d.assemble(ctx, plaintext, payload, func(*Value, []string) {})
}

// SignedBytes are the bytes of the manifest that its signature is over.
func (m Manifest) SignedBytes() []byte { return m.value.without("signature").Canonical() }
