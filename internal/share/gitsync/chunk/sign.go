package chunk

import (
	"context"
	"encoding/hex"
	"hash"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// The signed message is signedPrefix and the SHA-256 of all lines before the signature, in lower-case hexadecimal
// digits. The header names the signer, so that a reader notices when an attacker takes the signature away or puts
// another one in its place.
const signedPrefix = "amber sync 1\x00"

func signedMessage(text hash.Hash) []byte {
	return hex.AppendEncode([]byte(signedPrefix), text.Sum(nil))
}

// signText makes the signature of a chunk. Its own signature is checked: what is
// written stays.
func signText(ctx context.Context, named sign.KeyID, text hash.Hash, s sign.Signer) (sign.Signature, error) {
	message := signedMessage(text)
	sig, err := s.Sign(ctx, message)
	if err != nil {
		return sig, err
	}
	if checkSignature(named, &sig, message) != nil {
		return sig, because(amber.KindInternal, "the signer made a signature that does not match")
	}
	return sig, nil
}

// checkSignature checks the signature of a chunk, nil for none, against the signer that the header names, "" for none.
// The error is of kind untrusted.
func checkSignature(named sign.KeyID, sig *sign.Signature, message []byte) error {
	switch {
	case named == "" && sig == nil:
		return nil
	case sig == nil:
		return untrusted("the signature was removed: the header names the signer " + string(named))
	case named == "":
		return untrusted("the chunk has a signature, but the header names no signer")
	case sig.KeyID != named:
		return untrusted("the header names the signer " + string(named) + ", but the signature is of another key")
	}
	return sig.Verify(message)
}
