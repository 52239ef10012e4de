package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/repo"
)

// readyToSign makes the key of this home when the first snapshot needs it.
func (rep *repository) readyToSign(ctx context.Context) (err error) {
	if rep.signer != nil || rep.e.o.Keys.NoSign {
		return nil
	}
	if rep.signer, err = rep.e.keys.signer(ctx, true); err != nil || rep.signer == nil {
		return err
	}
	return rep.reopen(ctx)
}

// recipients returns those that are configured and some more.
func (e *Engine) recipients(ctx context.Context, more []string) ([]agekey.Recipient, error) {
	configured, err := e.keys.recipients()
	if err != nil {
		return nil, err
	}
	return agekey.ParseRecipients(append(textsOf(configured), more...))
}

// encrypt makes sure that the configured recipients and those in more, and no one else, can read
// everything that is written from now on. It returns a warning for each recipient that it added.
func (rep *repository) encrypt(ctx context.Context, more []string) (warnings []string, err error) {
	want, err := rep.e.recipients(ctx, more)
	if err != nil {
		return nil, err
	}
	switch {
	case rep.Locked():
		return nil, locked()
	case rep.KeyID() != "":
		if err := rep.knownKey(ctx); err != nil {
			return nil, err
		}
		return rep.admit(ctx, want)
	}
	if err := rep.neverHadKey(); err != nil || len(want) == 0 {
		return nil, err
	}
	own, err := rep.e.keys.OwnRecipient(want)
	if err != nil {
		return nil, err
	}
	if want, err = agekey.ParseRecipients(append(textsOf(want), own.Text)); err != nil {
		return nil, err
	}
	if err := rep.reopen(ctx); err != nil { // with what opens it from now on
		return nil, err
	}
	if err := rep.InitKey(ctx, want, rep.e.o.Random, rep.e.now()); err != nil {
		return nil, err
	}
	return nil, rep.e.book.saveKeyNote(rep)
}

// neverHadKey refuses to write to a repository in the clear, or to give it a
// key, that had one.
func (rep *repository) neverHadKey() error {
	note, err := rep.e.book.loadKeyNote(rep.tenant)
	if err != nil || note == (keyNote{}) {
		return err
	}
	return amber.Errorf(amber.KindUntrusted, "encrypt snapshot", note.key, "the repository was encrypted, but its key record is gone").
		WithHint("if you made a new repository there, remove " + rep.e.book.keyNotePath(rep.tenant))
}

// admit adds the recipients that the repository does not have yet.
func (rep *repository) admit(ctx context.Context, want []agekey.Recipient) (warnings []string, err error) {
	have, err := rep.Recipients(ctx)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(have)
	for _, r := range want {
		if !slices.Contains(have, r.Text) {
			all = append(all, r.Text)
			warnings = append(warnings, fmt.Sprintf("%s can read every encrypted snapshot of the repository from now on", r.Text))
		}
	}
	if len(warnings) == 0 {
		return nil, nil
	}
	list, err := agekey.ParseRecipients(all)
	if err == nil {
		err = rep.setRecipients(ctx, list, false)
	}
	return warnings, err
}

func (rep *repository) setRecipients(ctx context.Context, list []agekey.Recipient, rotate bool) error {
	if err := rep.SetRecipients(ctx, list, rotate, rep.e.o.Random, rep.e.now()); err != nil {
		return err
	}
	return rep.e.book.saveKeyNote(rep)
}

// locked says that no identity at hand opens a repository.
func locked() error {
	return amber.Errorf(amber.KindRefused, "open repository", "", "the repository is encrypted, and no identity opens it").
		WithHint("add --identity FILE, or set snapshot.encryption.identity")
}

// Recipients returns the age recipients of a tenant's repository; none when it
// is not encrypted. Errors: not_found without a repository.
func (e *Engine) Recipients(ctx context.Context, tenant amber.TenantID) (list []string, err error) {
	err = e.with(ctx, tenant, func(rep *repository) error {
		list, err = rep.Recipients(ctx)
		return err
	})
	return list, err
}

// ChangeRecipients adds and removes recipients of a tenant's repository, and
// returns the list. A removed recipient may have kept the repository key; rotate
// makes a new key, which encrypts everything written from then on. Errors:
// invalid; refused when this home could not open the repository any more or no
// identity opens it now; not_found for a recipient to remove that is not in the
// list; conflict when another process changes the list.
func (e *Engine) ChangeRecipients(ctx context.Context, tenant amber.TenantID, add, remove []string, rotate bool) ([]string, error) {
	const op = "change recipients"
	var texts []string
	how := waiting
	if len(add) > 0 {
		how = creating // a repository can be encrypted before anything is in it
	}
	err := e.within(ctx, tenant, how, func(rep *repository) error {
		if rep.Locked() {
			return locked()
		}
		adding, err := agekey.ParseRecipients(add)
		if err != nil {
			return err
		}
		removing, err := agekey.ParseRecipients(remove)
		if err != nil {
			return err
		}
		if rep.KeyID() == "" {
			if len(adding) == 0 || len(removing) > 0 || rotate {
				return amber.Errorf(amber.KindNotFound, op, string(tenant), "the repository is not encrypted")
			}
			_, err := rep.encrypt(ctx, add)
			if err == nil {
				texts, err = rep.Recipients(ctx)
			}
			return err
		}
		if err := rep.knownKey(ctx); err != nil {
			return err
		}
		have, err := rep.Recipients(ctx)
		if err != nil {
			return err
		}
		if err := e.notConfigured(ctx, removing); err != nil {
			return err
		}
		texts = append(have, textsOf(adding)...)
		for _, r := range removing {
			n := slices.Index(texts, r.Text)
			if n < 0 {
				return amber.Errorf(amber.KindNotFound, op, r.Text, "not a recipient of the repository")
			}
			texts = slices.Delete(texts, n, n+1)
		}
		list, err := agekey.ParseRecipients(texts)
		if err != nil {
			return err
		}
		if err := e.stillOpens(ctx, list); err != nil {
			return err
		}
		texts = textsOf(list)
		return rep.setRecipients(ctx, list, rotate)
	})
	return texts, err
}

// notConfigured refuses to remove recipients that the configuration lets in: the
// next snapshot would do that again.
func (e *Engine) notConfigured(ctx context.Context, removing []agekey.Recipient) error {
	configured, err := e.keys.recipients()
	if err != nil {
		return err
	}
	for _, r := range removing {
		if slices.Contains(textsOf(configured), r.Text) {
			return amber.Errorf(amber.KindRefused, "change recipients", r.Text, "the configuration names this recipient, so the next snapshot would add it again").
				WithHint("remove the recipient from snapshot.encryption.recipients first")
		}
	}
	return nil
}

// stillOpens refuses recipients that would shut this home out of its own
// repository: it could take no snapshot any more.
func (e *Engine) stillOpens(ctx context.Context, list []agekey.Recipient) error {
	ids, err := e.keys.identities()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if own, ok := agekey.RecipientOf(id); ok && slices.Contains(textsOf(list), own.Text) {
			return nil
		}
	}
	return amber.Errorf(amber.KindRefused, "change recipients", "", "this home could not open the repository any more: keep one of its own recipients")
}

func textsOf(list []agekey.Recipient) []string {
	texts := make([]string, 0, len(list))
	for _, r := range list {
		texts = append(texts, r.Text)
	}
	return texts
}

// hidden reports whether a label may be seen only with the key. What Amber
// itself calls its snapshots is needed to keep them.
func hidden(m repo.Manifest, label string) bool {
	return m.Encrypted && !strings.HasPrefix(label, "auto:")
}
