package ledger

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/amber-memory/amber/wire"
)

// A secret is "amber_", the id of its token, "_" and its random part: 8 and 52
// characters of a-z and 2-7. A double click selects all of it, and no shell or
// URL gives any of it a meaning.
const (
	secretPrefix = "amber_"
	idBytes      = 5
	idChars      = 8
	randomBytes  = 32
	randomChars  = 52
	secretChars  = len(secretPrefix) + idChars + 1 + randomChars
)

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

var encoding = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

// secret is what the holder of a token knows. However it is printed, its random
// part is not shown.
type secret struct {
	id     wire.TokenID
	random string
}

// newSecret makes one.
func newSecret(random io.Reader) (secret, error) {
	var b [idBytes + randomBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return secret{}, fmt.Errorf("read random bytes: %w", err)
	}
	return secret{
		id:     wire.TokenID(encoding.EncodeToString(b[:idBytes])),
		random: encoding.EncodeToString(b[idBytes:]),
	}, nil
}

// parseSecret takes apart what reveal returns; ok is false for anything else.
func parseSecret(text string) (s secret, ok bool) {
	if len(text) != secretChars || !strings.HasPrefix(text, secretPrefix) {
		return secret{}, false
	}
	text = text[len(secretPrefix):]
	id, random := text[:idChars], text[idChars+1:]
	if text[idChars] != '_' || !isBase32(id) || !isBase32(random) {
		return secret{}, false
	}
	return secret{wire.TokenID(id), random}, true
}

func isBase32(s string) bool { return strings.Trim(s, alphabet) == "" }

// reveal returns the secret for its holder.
func (s secret) reveal() string { return secretPrefix + string(s.id) + "_" + s.random }

// hash returns what is stored of the secret. The random part has 256 bits, so
// that a slow hash would add nothing.
func (s secret) hash() [sha256.Size]byte { return sha256.Sum256([]byte(s.random)) }

// String names the token and hides the rest.
func (s secret) String() string { return secretPrefix + string(s.id) + "_[redacted]" }

// Format is String for every verb.
func (s secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// LogValue is String.
func (s secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is String.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
