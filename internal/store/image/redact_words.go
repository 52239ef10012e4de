package image

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/store/sqlfile"
)

// checkWords compares every word of the index with the words of the secrets
// that were found. Words that the memories have as well were excused.
func (d *redaction) checkWords(ctx context.Context, path string) (err error) {
	secret := map[string]bool{}
	d.secrets.Words(func(word string) {
		for _, term := range analyze.Terms(word) {
			secret[term] = true
		}
	})
	if len(secret) == 0 {
		return nil
	}
	s, err := sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(path, nil))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return reader(ctx, s).EachTerm(func(term string) error {
		if secret[term] || d.secrets.Holds([]byte(term)) {
			return amber.Errorf(amber.KindInternal, "redact database", sqlfile.MemorySchema.File, "a word of a secret is left in the index")
		}
		return nil
	})
}
