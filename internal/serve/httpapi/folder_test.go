package httpapi_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Folders are of the machine: a token of one tenant, or one without the scope admin, learns of none and trusts none.
func TestFoldersAreForTheOwnerOfTheMachine(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const folders, claim = adaPath + "/folders", `{"place":"/srv/copy","asks":"git.example/acme/shop"}`
	for _, token := range []string{ada, adaRead} {
		r.ask(call{method: "GET", path: folders, token: token}).failed(amber.KindRefused)
		r.ask(call{method: "POST", path: folders + "/trust", token: token, body: claim}).failed(amber.KindRefused)
	}
	waiting := pageOf[wire.WaitingFolder](r.ask(call{method: "GET", path: folders})).Items
	must.Equal(t, "folders that wait", len(waiting), 1)
	for body, kind := range map[string]amber.Kind{
		`{"place":"/srv/copy","asks":""}`: amber.KindInvalid, `{"place":"","asks":"shop"}`: amber.KindInvalid, `{"place":"/srv/other","asks":"shop"}`: amber.KindConflict,
	} {
		r.ask(call{method: "POST", path: folders + "/trust", body: body}).failed(kind)
	}
	must.Equal(t, "joined", r.ask(call{method: "POST", path: folders + "/trust", body: claim}).want(200).text("project"), "git.example/acme/shop")
	entries := written(r.book, 1)
	must.Equal(t, "in the audit log", entries[len(entries)-1], "ada folder.trust git.example/acme/shop")
	must.Equal(t, "folders that wait", len(pageOf[wire.WaitingFolder](r.ask(call{method: "GET", path: folders})).Items), 0)
	r.agents["acme/ada"].Folders = nil
	r.ask(call{method: "GET", path: folders}).failed(amber.KindUnsupported)
}
