package web_test

import (
	"crypto/rand"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
)

// seen makes a page believe that its tab is seen, or is not.
func (b *tab) seen(seen bool) {
	b.t.Helper()
	hidden := map[bool]string{true: "false", false: "true"}[seen]
	eval[chromedp.Void](b, `Object.defineProperty(document, "hidden", {value: `+hidden+`, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`)
}

func streamOfATab(t *testing.T, s *suite) {
	b, r, _ := s.desk(t, "lin")
	remote := must.Get(client.New(client.Options{URL: r.url, Random: rand.Reader}))(t)
	store := must.Get(must.Get(remote.Agent("acme", "lin"))(t).Store(t.Context()))(t)
	write := func(text string) {
		must.Get(store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: text}))(t)
	}
	const state, told = `document.querySelector("[data-live]").dataset.state`, `document.querySelector("[data-live] a:not([hidden])")?.textContent`
	b.open(r.url + "/ui/acme/lin")
	b.await(state + ` === "live"`)
	b.seen(false)
	must.Equal(t, "the stream of a tab that nobody sees", eval[string](b, state), "paused")
	write("while nobody looked")
	b.seen(true)
	b.await(told + ` === "1 new"`)
	eval[chromedp.Void](b, `dispatchEvent(new PageTransitionEvent("pagehide", {persisted: true}))`)
	must.Equal(t, "the stream of a page that was left", eval[string](b, state), "paused")
	write("while another page was shown")
	eval[chromedp.Void](b, `dispatchEvent(new PageTransitionEvent("pageshow", {persisted: true}))`)
	b.await(told + ` === "2 new"`)
	eval[chromedp.Void](b, `document.querySelector("[data-live] button").click()`)
	must.Equal(t, "the stream that was switched off", eval[string](b, state), "off")
	b.seen(false)
	b.seen(true)
	must.Equal(t, "the stream that was switched off, seen again", eval[string](b, state), "off")

	b.open(r.url + "/ui/acme/lin?kind=notes")
	b.await(state + ` === "live"`)
	write("no note")
	b.await(told + ` === "Something new"`)
}

// Health is asked for again and again, and what came by a swap stops nothing.
func healthGoesOn(t *testing.T, s *suite) {
	b, r, _ := s.desk(t, "ada")
	b.open(r.url + adaHome + "/health")
	for range 3 {
		eval[chromedp.Void](b, `document.getElementById("now").dataset.old = ""; htmx.trigger(document.querySelector('[hx-trigger^="every"]'), "every")`)
		b.await(`!("old" in document.getElementById("now").dataset)`)
	}
	said, _ := b.take()
	for _, line := range said {
		t.Errorf("the console says %s", line)
	}
}

// The command and the JSON that the page shows for a question are those of the question in the field, and typing
// leaves one entry in the history.
func recallWhileTyping(t *testing.T, s *suite) {
	b, r, _ := s.desk(t, "ada")
	b.open(r.url + adaHome + "/recall")
	before := eval[int](b, `history.length`)
	eval[chromedp.Void](b, `document.querySelector("details.same").open = true; document.getElementById("q").focus()`)
	for _, words := range []string{"which", " database"} {
		b.keys(words)
		b.await(`location.search.includes("q=" + encodeURIComponent(document.getElementById("q").value).replaceAll("%20", "+"))`)
	}
	b.await(`document.querySelector("#same code").textContent.includes("amber recall 'which database'")`)
	must.Equal(t, "the answer as JSON", eval[bool](b, `new URL(document.querySelector("#same a").href).searchParams.get("q") === "which database"`), true)
	must.Equal(t, "where another colour leads", eval[bool](b, `document.getElementById("here").value === location.pathname + location.search`), true)
	must.Equal(t, "what was opened is open", eval[bool](b, `document.querySelector("details.same").open`), true)
	must.Equal(t, "entries of the history", eval[int](b, `history.length`), before)
	must.Equal(t, "buttons to copy", eval[int](b, `document.querySelectorAll("#same button").length`), eval[int](b, `document.querySelectorAll("#same code").length`))
	said, _ := b.take()
	for _, line := range said {
		t.Errorf("the console says %s", line)
	}
}
