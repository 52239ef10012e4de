package keyring

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// KnownKey is a key whose signatures count.
type KnownKey struct {
	KeyID    sign.KeyID    `json:"key_id"`
	Standing sign.Standing `json:"standing"` // own or trusted
	Comment  string        `json:"comment"`
}

// Known returns the keys whose signatures count, the home's own first. Errors:
// those of [Ring.Signer] and [Ring.Trusted].
func (r *Ring) Known(ctx context.Context) ([]KnownKey, error) {
	var keys []KnownKey
	signer, err := r.Signer(ctx)
	switch amber.KindOf(err) {
	case "":
		keys = append(keys, KnownKey{KeyID: signer.KeyID(), Standing: sign.StandingOwn})
	case amber.KindNotFound:
	default:
		return nil, err
	}
	trusted, err := r.Trusted(ctx)
	for _, t := range trusted {
		if len(keys) > 0 && keys[0].KeyID == t.KeyID { // trusted or not, it stays the own one
			keys[0].Comment = t.Comment
			continue
		}
		keys = append(keys, KnownKey{KeyID: t.KeyID, Standing: sign.StandingTrusted, Comment: t.Comment})
	}
	return keys, err
}

// FindTrusted returns a key of the list of trusted keys. Errors: not_found; those
// of [Ring.Trusted].
func (r *Ring) FindTrusted(ctx context.Context, key sign.KeyID) (TrustedKey, error) {
	trusted, err := r.Trusted(ctx)
	if err != nil {
		return TrustedKey{}, err
	}
	for _, t := range trusted {
		if t.KeyID == key {
			return t, nil
		}
	}
	return TrustedKey{}, amber.Errorf(amber.KindNotFound, "find trusted key", string(key), "the key is not on the list of trusted keys").WithHint("amber key list")
}

// Trust tells how far a key is trusted.
type Trust = func(ctx context.Context, key sign.KeyID) (sign.Standing, error)

// TrustAlso returns the trust of the home with more keys trusted for now. The
// signer, if any, is the own key. Errors: invalid for what is not a did:key.
func (r *Ring) TrustAlso(keys []string, signer sign.Signer) (Trust, error) {
	also := map[sign.KeyID]sign.Standing{}
	for _, text := range keys {
		key, err := sign.ParseKeyID(text)
		if err != nil {
			return nil, err
		}
		also[key] = sign.StandingTrusted
	}
	if signer != nil {
		also[signer.KeyID()] = sign.StandingOwn
	}
	return func(ctx context.Context, key sign.KeyID) (sign.Standing, error) {
		if standing, ok := also[key]; ok {
			return standing, nil
		}
		return r.Standing(ctx, key)
	}, nil
}
