package vaultapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

// wanted is the condition of a write. The zero wanted is none.
type wanted struct {
	colony.Condition
	any bool // some file is there
}

// wants returns the condition of a request. Others than those that are
// understood are refused: a caller that sends one counts on it.
func (o *operation) wants(h http.Header) (w wanted, err error) {
	match, none := h.Values("If-Match"), h.Values("If-None-Match")
	switch {
	case len(match)+len(none) == 0:
		return w, nil
	case !o.conditional:
		return w, badInput("If-Match and If-None-Match are allowed with PUT only")
	case len(match)+len(none) > 1:
		return w, badInput("the request has more than one of If-Match and If-None-Match, want at most one")
	case len(none) == 1 && strings.TrimSpace(none[0]) == "*":
		w.Absent = true
		return w, nil
	case len(none) == 1:
		return w, badInput("If-None-Match is not valid: want *")
	}
	tag := strings.TrimSpace(match[0])
	if tag == "*" {
		w.any = true
		return w, nil
	}
	if len(tag) < 3 || tag[0] != '"' || strings.Index(tag[1:], `"`) != len(tag)-2 {
		return w, badInput("If-Match is not valid: want * or one strong entity tag in quotes")
	}
	w.Version = tag[1 : len(tag)-1]
	return w, nil
}

// there reports whether the condition needs a file.
func (w wanted) there() bool { return w.any || w.Version != "" }

// put writes a file under the condition.
func (w wanted) put(ctx context.Context, store Store, name, content string) (f colony.FileInfo, err error) {
	switch {
	case w.any:
		return putOver(ctx, store, name, content)
	case w.Condition == colony.Condition{}:
		return store.Put(ctx, name, content)
	}
	f, err = store.PutIf(ctx, name, content, w.Condition)
	if amber.KindOf(err) == amber.KindConflict {
		err = &unmet{err}
	}
	return f, err
}

// putOver writes a file where some file is, whichever. A caller that changes the file all the
// time keeps others from it for a few tries only.
func putOver(ctx context.Context, store Store, name, content string) (f colony.FileInfo, err error) {
	const tries = 8
	for range tries {
		there, err := store.Get(ctx, name)
		if amber.KindOf(err) == amber.KindNotFound {
			return f, noneThere()
		}
		if err != nil {
			return f, err
		}
		f, err = store.PutIf(ctx, name, content, colony.Condition{Version: there.Version})
		if amber.KindOf(err) != amber.KindConflict {
			return f, err
		}
	}
	return f, amber.Errorf(amber.KindBusy, "put file", "", "the file was changed by others again and again; try later")
}

// unmet is a condition that did not hold.
type unmet struct{ error }

// noneThere is that of a file that is to be there.
func noneThere() error {
	return &unmet{amber.Errorf(amber.KindConflict, "put file", "", "the file does not exist")}
}

func (u *unmet) Unwrap() error { return u.error }
