package server_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// A caller of one tenant gets the meaning of an error and nothing about the machine. Names that the caller itself
// asked about stay in the error.
func TestCallersOfATenantAreToldNoPlaces(t *testing.T) {
	t.Parallel()
	own := op.Caller{Grant: wire.Grant{Scopes: []wire.TokenScope{wire.TokenAdmin}}}
	disk := &fs.PathError{Op: "open", Path: "relative name", Err: errors.New("permission denied")}
	for _, c := range []struct {
		name   string
		err    error
		hidden bool
	}{
		{"an id that is a path", amber.Errorf(amber.KindDamaged, "open store", "/srv/my amber/memory.db", "torn"), true},
		{"an id of Windows", amber.Errorf(amber.KindTooNew, "open store", `C:\Users\Jo Doe\memory.db`, "schema 9"), true},
		{"an id of a share", amber.Errorf(amber.KindBusy, "lock", `\\nas\amber home\lock`, "held"), true},
		{"a path in the cause", amber.Errorf(amber.KindRefused, "open key", "", "the file /etc/amber/key is readable by others"), true},
		{"a path in quotes", amber.Errorf(amber.KindConflict, "write", "", "rename \"/srv/a b\" failed"), true},
		{"a path in the hint", &amber.Error{Kind: amber.KindBusy, Op: "lock", Err: errors.New("held"), Hint: "rm /srv/amber/lock"}, true},
		{"an error of the disk", &amber.Error{Kind: amber.KindQuota, Op: "write", Err: fmt.Errorf("step: %w", disk)}, true},
		{"one that is not there", &amber.Error{Kind: amber.KindNotFound, Op: "read", Err: disk}, true},
		{"a host", &amber.Error{Kind: amber.KindUnreachable, Op: "read", Err: &url.Error{Op: "Get", URL: "bucket.internal", Err: errors.New("no route")}}, true},
		{"two, one of them inside", errors.Join(amber.Errorf(amber.KindConflict, "x", "", "y"), errors.New("close home.db")), true},
		{"inside", amber.Errorf(amber.KindInternal, "x", "", "y"), true},
		{"foreign", errors.New("x"), true},

		{"an id of the API", amber.Errorf(amber.KindDamaged, "verify snapshot", "019b7ccd-f1ae-7a1b-8c2d-3e4f5a6b7c8d", "2 parts do not match"), false},
		{"a note", amber.Errorf(amber.KindConflict, "change note", "plans/next.md", "somebody else changed it"), false},
		{"a missing scope", amber.Errorf(amber.KindRefused, "authorize", "", "the token lacks the scope write"), false},
		{"what was asked for", amber.Errorf(amber.KindInvalid, "check path", "", "\"/etc/passwd\" is not in /memories"), false},
		{"a route", amber.Errorf(amber.KindNotFound, "find route", "", "nothing is served at \"/v2\"; see /openapi.json"), false},
		{"two of the caller's", errors.Join(amber.Errorf(amber.KindInvalid, "x", "", "y"), amber.Errorf(amber.KindInvalid, "x", "", "z")), false},
		{"impatience", &amber.Error{Op: "open agent", Kind: amber.KindUnreachable, Err: context.DeadlineExceeded}, false},
		{"a link", amber.Errorf(amber.KindUnsupported, "x", "", "see https://amber.example/docs and read/write"), false},
	} {
		told, hidden := op.Told(op.Caller{Grant: wire.Grant{Tenant: "acme"}}, c.err)
		if hidden != c.hidden || amber.KindOf(told) != amber.KindOf(c.err) || told.Error() == "" {
			t.Errorf("%s: hidden %v: %v", c.name, hidden, told)
		}
		if !hidden && !errors.Is(told, c.err) {
			t.Errorf("%s: told %v", c.name, told)
		}
		if hidden && (amber.HintOf(told) != "" || strings.ContainsAny(told.Error(), `/\`) || strings.Contains(told.Error(), "y\n")) {
			t.Errorf("%s: told %q, hint %q", c.name, told, amber.HintOf(told))
		}
		if all, hidden := op.Told(own, c.err); hidden || !errors.Is(all, c.err) {
			t.Errorf("%s: who may see everything is told %v", c.name, all)
		}
	}
	if told, hidden := op.Told(op.Caller{}, nil); told != nil || hidden {
		t.Error("nothing is something")
	}
	if told, hidden := op.Told(op.Caller{}, errors.New("open home.db")); !hidden {
		t.Errorf("nobody is told %v", told)
	}
	// A sentinel that programs compare errors with survives.
	joined := errors.Join(amber.ErrQueueEmpty, errors.New("close /srv/control.db"))
	if told, hidden := op.Told(op.Caller{Grant: wire.Grant{Tenant: "acme"}}, joined); !hidden || !errors.Is(told, amber.ErrQueueEmpty) {
		t.Errorf("told %v", told)
	}
}
