package httpapi_test

import (
	"bytes"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

const quarantine = adaPath + "/journal/quarantine"

func TestWhatWasSetAsideIsShownAndTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	listed := pageOf[wire.HeldEntry](r.ask(call{method: "GET", path: quarantine, token: adaRead})).Items
	must.Equal(t, "files", len(listed), 1)
	key := listed[0].Key
	must.Hold(t, listed[0].SessionID == "s1" && listed[0].Name == heldName && listed[0].Seq == 1 && listed[0].Payload == nil, "listed %+v", listed[0])
	for _, session := range []string{"s1", key} {
		shown := r.ask(call{method: "GET", path: quarantine + "/" + session + "/" + heldName, token: adaRead}).want(200)
		must.Equal(t, "payload", shown.text("payload"), "aGVsbG8=")
		must.Hold(t, !bytes.Contains(shown.body, []byte("/srv/secret")), "a token of one agent is told a place: %s", shown.body)
	}
	must.Says(t, "everything", string(r.ask(call{method: "GET", path: quarantine}).want(200).body), "/srv/secret")
	r.ask(call{method: "POST", path: quarantine + "/retry", token: adaRead, body: `{}`}).failed(amber.KindRefused)
	back := pageOf[wire.HeldEntry](r.ask(call{method: "POST", path: quarantine + "/retry", token: ada, body: `{"session":"s1"}`})).Items
	must.Equal(t, "put back", len(back), 1)
	must.Equal(t, "left", len(pageOf[wire.HeldEntry](r.ask(call{method: "GET", path: quarantine})).Items), 0)
	must.Equal(t, "in the audit log", written(r.book, 1), []string{"ada quarantine.retry " + key + "/" + heldName})
	r.ask(call{method: "GET", path: quarantine + "/s1/" + heldName}).failed(amber.KindNotFound)
	// That of another agent is not touched.
	bobs := "/v1/tenants/acme/agents/bob/journal/quarantine"
	r.ask(call{method: "GET", path: bobs, token: ada}).failed(amber.KindNotFound)
	must.Equal(t, "bob's", len(pageOf[wire.HeldEntry](r.ask(call{method: "GET", path: bobs})).Items), 1)
}

func TestNamesOfTheQuarantineAreNoPaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"s1/..%2Fmeta", "s1/%2Fetc%2Fpasswd", "s1/missing", "..%2Fs1/" + heldName, "nobody/" + heldName} {
		r.ask(call{method: "GET", path: quarantine + "/" + path}).failed(amber.KindNotFound)
	}
	r.ask(call{method: "GET", path: quarantine + "?session=nobody"}).failed(amber.KindNotFound)
	for body, kind := range map[string]amber.Kind{
		`{"name":"` + heldName + `"}`:           amber.KindInvalid,
		`{"session":"s1","name":"../meta"}`:     amber.KindNotFound,
		`{"session":"nobody"}`:                  amber.KindNotFound,
		`{"session":"s1","name":"x","key":"y"}`: amber.KindInvalid,
	} {
		r.ask(call{method: "POST", path: quarantine + "/retry", body: body}).failed(kind)
	}
	must.Equal(t, "files", len(pageOf[wire.HeldEntry](r.ask(call{method: "GET", path: quarantine})).Items), 1)
	r.agents["acme/ada"].Quarantine = nil
	r.ask(call{method: "GET", path: quarantine}).failed(amber.KindUnsupported)
	r.ask(call{method: "GET", path: quarantine + "/s1/" + heldName}).failed(amber.KindUnsupported)
	r.ask(call{method: "POST", path: quarantine + "/retry", body: `{}`}).failed(amber.KindUnsupported)
}

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
