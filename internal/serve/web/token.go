package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
)

// tokenScreens are the list of tokens, and one token.
type tokenScreens struct{ *visit }

func tokenRoutes(p *Page) {
	p.get("/tokens", func(v *visit) error { return tokenScreens{v}.tokens("", newTokenForm(v)) })
	p.post("/tokens", on(tokenScreens.createToken))
	p.get("/tokens/{id}", func(v *visit) error { return tokenScreens{v}.token("") })
	p.post("/tokens/{id}/revoke", on(tokenScreens.revokeToken))
}

// tokensData is what the screen of tokens shows.
type tokensData struct {
	Rows    []tokenRow
	Next    int
	Open    bool // no caller needs a token yet
	Parts   []homePart
	Form    tokenForm
	Problem string
	Revoked bool
}

// tokenRow is a token with what it is good for now.
type tokenRow struct {
	wire.Token
	State string // good, revoked or ended
	For   string
	Own   bool // the visitor uses it
}

// tokenForm is what the visitor fills in.
type tokenForm struct {
	Name, Part string
	Days       string // "0": never ends
	Scopes     []scopeChoice
	Bound      wire.Bound
	Sure       bool // that the first token need not let this page in
}

// The days after which a token of the form ends.
var (
	daysOffered = []string{"0", "7", "30", "90", "365"}
	daysNamed   = map[string]string{"0": "never", "365": "one year"}
)

const maxDays = 3650

// DayChoices are the days that the form offers. Input that is none of them stays chosen, so that a form that is
// sent again does not mean something else.
func (f tokenForm) DayChoices() (out []dayChoice) {
	days := daysOffered
	if !slices.Contains(days, f.Days) {
		days = append([]string{f.Days}, days...)
	}
	for _, d := range days {
		c := dayChoice{Days: d, Title: daysNamed[d], Chosen: d == f.Days}
		switch {
		case d == "":
			c.Title = "choose one"
		case c.Title == "":
			c.Title = clip.Marked(d, 40) + " days"
		}
		out = append(out, c)
	}
	return out
}

type dayChoice struct {
	Days, Title string
	Chosen      bool
}

type scopeChoice struct {
	Name    wire.TokenScope
	Meaning string
	Chosen  bool
}

var scopeMeanings = map[wire.TokenScope]string{
	wire.TokenRead:     "look at everything",
	wire.TokenWrite:    "change memories, sessions, notes, tasks",
	wire.TokenApprove:  "decide approvals that another token asked for",
	wire.TokenSnapshot: "take, pin, verify and delete snapshots",
	wire.TokenRestore:  "put a snapshot in the place of the agent",
	wire.TokenErase:    "remove the text of memories for good",
	wire.TokenOwn:      "speak as the owner: without it, what is written is the word of an agent",
	wire.TokenAdmin:    "everything, tokens and the audit log, too",
}

// Offered reports whether the part in the form is one that the visitor can choose.
func (d tokensData) Offered() bool {
	return slices.ContainsFunc(d.Parts, func(p homePart) bool { return p.Name == d.Form.Part })
}

// open reports whether the server needs no token yet.
func (v *visit) open() bool { return v.secret == "" && v.grant.Token == "" }

// newTokenForm is the form before anything was filled in: the first token of a server is the key to everything,
// a later one is small.
func newTokenForm(v *visit) tokenForm {
	if v.open() {
		return tokenForm{Part: "home", Days: "0", Scopes: choices([]wire.TokenScope{wire.TokenAdmin})}
	}
	return tokenForm{Part: "agent", Days: "90", Scopes: choices([]wire.TokenScope{wire.TokenRead, wire.TokenWrite})}
}

func choices(chosen []wire.TokenScope) (out []scopeChoice) {
	for _, s := range wire.TokenScopes() {
		out = append(out, scopeChoice{s, scopeMeanings[s], slices.Contains(chosen, s)})
	}
	return out
}

func (v tokenScreens) tokens(problem string, form tokenForm) error {
	all, err := v.api.ListTokens(v.r.Context(), v.grant.Tenant, v.grant.Agent)
	if err != nil {
		return err
	}
	d := tokensData{Open: v.open(), Parts: v.homeParts(), Form: form, Problem: problem, Revoked: v.query("revoked") != ""}
	slices.Reverse(all) // newest first
	all, d.Next = part(all, v.query("from"))
	for _, t := range all {
		d.Rows = append(d.Rows, v.tokenRow(t))
	}
	return v.render("tokens", screen{Title: "Tokens", Nav: "tokens", Command: "amber token list"}, d)
}

func (v tokenScreens) tokenRow(t wire.Token) tokenRow {
	r := tokenRow{Token: t, State: "good", For: "every tenant", Own: t.ID == v.grant.Token}
	switch {
	case !t.RevokedAt.IsZero():
		r.State = "revoked"
	case !t.ExpiresAt.IsZero() && !v.p.o.Clock().Before(t.ExpiresAt.Time()):
		r.State = "ended"
	}
	if t.Tenant != "" {
		r.For = "every agent of " + string(t.Tenant)
	}
	if t.Agent != "" {
		r.For = string(t.Tenant) + " / " + string(t.Agent)
	}
	if !t.Bound.None() {
		r.For += ", " + t.Bound.String()
	}
	return r
}

// tokenForm reads the form that was sent.
func (v tokenScreens) tokenForm() tokenForm {
	var chosen []wire.TokenScope
	for _, s := range v.r.PostForm["scope"] {
		chosen = append(chosen, wire.TokenScope(s))
	}
	return tokenForm{Name: v.field("name"), Part: v.field("part"), Days: v.field("days"), Bound: wire.Bound{User: v.field("user"), Project: v.field("project"), Workspace: v.field("workspace")}, Scopes: choices(chosen), Sure: v.field("sure") != ""}
}

// request is the form as the API takes it. Errors: invalid for a part or days that cannot be read: no token reaches
// farther, or lives longer, than the visitor chose.
func (f tokenForm) request(v *visit) (wire.TokenRequest, error) {
	r := wire.TokenRequest{Name: f.Name, Tenant: v.tenant, Agent: v.agent, Bound: f.Bound}
	for _, s := range f.Scopes {
		if s.Chosen {
			r.Scopes = append(r.Scopes, s.Name)
		}
	}
	part, err := v.homePart(f.Part)
	if err != nil {
		return r, err
	}
	r.Tenant, r.Agent = part.Tenant, part.Agent
	days, err := strconv.Atoi(f.Days)
	if err != nil || days < 0 || days > maxDays {
		return r, amber.Errorf(amber.KindInvalid, "read days", "", "the token ends after %q days, want a number from 0, which is never, to %d", clip.Marked(f.Days, 40), maxDays)
	}
	if days > 0 {
		r.ExpiresAt = amber.At(v.p.o.Clock().Add(time.Duration(days) * 24 * time.Hour))
	}
	return r, nil
}

// madeData is what the answer to a new token shows, once.
type madeData struct {
	tokenRow
	Secret   string
	First    bool // the server needs a token from now on
	LoggedIn bool // as this token
}

// createToken makes a token. Its secret is in this answer and nowhere else: not in an address, a log or a session that
// another visitor has.
func (v tokenScreens) createToken() error {
	form, first := v.tokenForm(), v.open()
	r, err := form.request(v.visit)
	if err != nil && v.may(wire.TokenAdmin) { // without admin the API refuses the rest, and writes that down
		return v.tokens("No token was made: "+err.Error(), form)
	}
	if first && !form.Sure && (r.Tenant != "" || !slices.Contains(r.Scopes, wire.TokenAdmin)) {
		return v.tokens("The first token closes this server, and this one could not make others: choose the scope admin for every tenant, or tick the box below.", form)
	}
	made, err := v.api.CreateToken(v.r.Context(), r)
	switch amber.KindOf(err) {
	case "":
	case amber.KindInvalid, amber.KindRefused:
		if !v.may(wire.TokenAdmin) {
			return err
		}
		v.log.forget()
		return v.tokens(err.Error(), form)
	default:
		return err
	}
	d := madeData{Secret: made.Secret, First: first}
	if g := made.Grant(); first && g.Has(wire.TokenRead) && g.Reaches(v.tenant, v.agent) {
		if err := v.become(made.Secret, g); err != nil {
			return err
		}
		d.LoggedIn = true
	}
	d.tokenRow = v.tokenRow(made.Token)
	v.log.forget() // what was answered holds the secret
	return v.renderStatus(http.StatusOK, "token-made", screen{Title: "Token made", Nav: "tokens"}, d)
}

// become logs the visitor in with a token. Errors: those of connect.
func (v *visit) become(secret string, g wire.Grant) error {
	v.p.sessions.end(v.session)
	v.session = v.p.sessions.begin(secret)
	v.p.setCookie(v.w, v.r, cookieSession, v.session, 0)
	v.secret, v.grant, v.known = secret, g, true
	return v.connect()
}

// tokenData is what the screen of one token shows.
type tokenData struct {
	tokenRow
	Problem string
}

// findToken returns the token in the path. Errors: not_found; the id is not shown, since it may be a secret by mistake.
func (v tokenScreens) findToken() (wire.Token, error) {
	all, err := v.api.ListTokens(v.r.Context(), v.grant.Tenant, v.grant.Agent)
	if err != nil {
		return wire.Token{}, err
	}
	for _, t := range all {
		if string(t.ID) == v.r.PathValue("id") {
			return t, nil
		}
	}
	return wire.Token{}, amber.Errorf(amber.KindNotFound, "find token", "", "there is no such token")
}

func (v tokenScreens) token(problem string) error {
	t, err := v.findToken()
	if err != nil {
		return err
	}
	return v.render("token", screen{Title: "Token", Nav: "tokens", Command: "amber token revoke " + string(t.ID)}, tokenData{v.tokenRow(t), problem})
}

// revokeToken ends a token whose name was typed.
func (v tokenScreens) revokeToken() error {
	if !v.may(wire.TokenAdmin) { // the API refuses it, and writes that down
		_, err := v.api.RevokeToken(v.r.Context(), wire.TokenID(v.r.PathValue("id")))
		v.log.forget() // the id may be a secret by mistake
		return err
	}
	t, err := v.findToken()
	if err != nil {
		return err
	}
	if v.field("name") != strings.TrimSpace(t.Name) {
		v.log.forget()
		return v.token("The name that was typed is another one. Nothing was revoked.")
	}
	if _, err := v.api.RevokeToken(v.r.Context(), t.ID); err != nil {
		return err
	}
	return v.redirect(v.path("tokens") + "?revoked=1")
}
