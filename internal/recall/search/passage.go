package search

import (
	"crypto/sha256"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
)

// Text is a passage with its words, on its way into the index.
type Text struct {
	Passage
	Fields []Field
	Facets []string
	// Meant is what a model reads of it.
	Meant string
}

// Document returns the document of the passage under a row.
func (t Text) Document(row int64) Document { return Analyze(row, t.Fields, t.Facets) }

// Digest returns bytes that differ when a passage has become another one. The time when it was
// said does not count.
func (t Text) Digest(d Document) []byte {
	h := sha256.New()
	h.Write(d.Marshal())
	h.Write([]byte(t.Meant + "\x00" + t.Session + "\x00" + t.Speaker))
	return h.Sum(nil)[:16]
}

// The sources of passages: the tables that a store has.
const (
	SourceMemory     = "memory"
	SourceTurn       = "turn"
	SourceCompaction = "compaction"
	SourceSession    = "session"
	SourceActivity   = "activity"
	SourceNote       = "note"
)

// LayerOf returns the layer of a source.
func LayerOf(source string) amber.RecallLayer {
	switch source {
	case SourceTurn:
		return amber.LayerExchange
	case SourceCompaction, SourceSession:
		return amber.LayerSession
	case SourceActivity:
		return amber.LayerActivity
	case SourceNote:
		return amber.LayerNote
	}
	return amber.LayerMemory
}

// The weights are how much a word counts, by where it stands.
const (
	titleWeight   = 6
	tagWeight     = 3
	summaryWeight = 2
)

// The facets.
const (
	facetScope = "scope"
	facetLayer = "layer"
	facetKind  = "kind"
	facetTag   = "tag"
	facetTrust = "trust"
)

func scopeFacet(s amber.Scope, identity string) string {
	return Facet(facetScope, string(s)+"\x1f"+identity)
}

// FilterOf returns what a query lets through, but for its times.
func FilterOf(q amber.Query) Filter {
	var scopes []string
	for _, s := range amber.Scopes() {
		id := q.For(s)
		if q.Scope != "" && q.Scope != s || s != amber.ScopeGlobal && id == "" {
			continue
		}
		scopes = append(scopes, scopeFacet(s, id))
	}
	return append(Filter{scopes}, FilterOfAll(q)...)
}

// FilterOfAll is [FilterOf] for a question to everything: no scope and no identity narrows it.
func FilterOfAll(q amber.Query) Filter {
	var layers, kinds []string
	for _, l := range q.Layers {
		layers = append(layers, Facet(facetLayer, string(l)))
	}
	var f Filter
	if len(layers) < len(amber.RecallLayers()) {
		f = append(f, layers)
	}
	for _, k := range q.Kinds {
		kinds = append(kinds, Facet(facetKind, string(k)))
	}
	if len(kinds) > 0 {
		f = append(f, kinds)
	}
	for _, t := range q.Tags {
		f = append(f, []string{Facet(facetTag, t)})
	}
	if q.Trusted || q.Local {
		trusts := []string{Facet(facetTrust, string(amber.TrustOwn)), Facet(facetTrust, string(amber.TrustSigned))}
		if !q.Trusted {
			trusts = append(trusts, Facet(facetTrust, string(amber.TrustAgent)), Facet(facetTrust, string(amber.TrustDerived)))
		}
		f = append(f, trusts)
	}
	return f
}

// facets are what every passage has.
func facets(source string, scope amber.Scope, identity string, trust amber.Trust) []string {
	return []string{
		scopeFacet(scope, identity), Facet(facetLayer, string(LayerOf(source))), Facet(facetTrust, string(trust)),
	}
}

// OfMemory returns the passages of a live memory.
func OfMemory(m amber.Memory, concepts []string) []Text {
	all := append(facets(SourceMemory, m.Scope, m.Identity(), m.Trust), Facet(facetKind, string(m.Kind)))
	for _, t := range m.Tags {
		all = append(all, Facet(facetTag, t))
	}
	var out []Text
	for i, part := range Cut(m.Content) {
		t := Text{
			Passage: Passage{Source: SourceMemory, Owner: string(m.ID), Part: i, At: m.UpdatedAt.UnixMilli()},
			Fields:  []Field{{m.Title, titleWeight}, {part, 1}}, Facets: all, Meant: joined(m.Title, part),
		}
		if i == 0 {
			t.Fields = append(t.Fields, Field{m.Topic, titleWeight}, Field{strings.Join(m.Tags, "\n"), tagWeight},
				Field{m.Summary, summaryWeight}, Field{strings.Join(concepts, "\n"), 1})
		}
		out = append(out, t)
	}
	return out
}

// joined puts a title before a text.
func joined(title, text string) string {
	switch {
	case title == "":
		return text
	case text == "":
		return title
	}
	if last, _ := utf8.DecodeLastRuneInString(title); unicode.IsPunct(last) {
		return title + " " + text
	}
	return title + ". " + text
}

// reach says who sees what was said in a session: its project, or the session alone.
func reach(project string, session amber.SessionID) (amber.Scope, string) {
	if project != "" {
		return amber.ScopeProject, project
	}
	return amber.ScopeSession, string(session)
}

// OfTurn returns the passages of a turn. Before is what was said before it in the session.
// The output of tools and the messages of hosts to an agent are no passages.
func OfTurn(t amber.Turn, project string, before string) []Text {
	if t.Role != amber.RoleUser && t.Role != amber.RoleAssistant {
		return nil
	}
	if t.ProjectID != "" {
		project = t.ProjectID
	}
	scope, identity := reach(project, t.SessionID)
	all := facets(SourceTurn, scope, identity, TurnTrust(t))
	speaker := speakerOf(t)
	var out []Text
	for i, part := range Cut(t.Content) {
		meant := part
		if i == 0 && words(part) < shortTurn {
			meant = joined(lastWords(before, contextWords), part)
		}
		out = append(out, Text{
			Passage: Passage{
				Source: SourceTurn, Owner: string(t.ID), Part: i, At: t.CreatedAt.UnixMilli(), Session: string(t.SessionID), Speaker: speaker,
				Asks: i == 0 && words(part) <= shortQuestion && isQuestion(t.Content),
			},
			Fields: []Field{{part, 1}}, Facets: all, Meant: meant,
		})
	}
	return out
}

// isQuestion reports whether a text ends in a question mark of any script.
func isQuestion(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text))
	return strings.ContainsRune("?？؟", last)
}

// TurnTrust is how far a turn may be believed: what the assistant said is derived.
func TurnTrust(t amber.Turn) amber.Trust {
	switch {
	case t.Trust != "":
		return t.Trust
	case t.Role == amber.RoleUser:
		return amber.TrustOwn
	}
	return amber.TrustDerived
}

// A turn shorter than this says little without the one before it, of which so many words
// are put before it for the model.
const (
	shortTurn     = 60
	contextWords  = 40
	shortQuestion = 12
)

// speakerOf returns who speaks: the name at the beginning of the text, or the user.
func speakerOf(t amber.Turn) string {
	name, _, found := strings.Cut(t.Content, ": ")
	if found && len(name) <= 30 && words(name) <= 2 && isName(name) {
		return strings.Fields(analyze.Fold(name))[0]
	}
	if t.Role == amber.RoleUser {
		return UserSpeaker
	}
	return ""
}

func isName(s string) bool {
	for _, w := range strings.Fields(s) {
		first, _ := utf8.DecodeRuneInString(w)
		if !unicode.IsUpper(first) || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, " ")
}

// OfCompaction returns the passages of the summary of a compaction.
func OfCompaction(c amber.Compaction, project string) []Text {
	scope, identity := reach(project, c.SessionID)
	return plainTexts(SourceCompaction, c.ID, "", c.Summary, c.CreatedAt, facets(SourceCompaction, scope, identity, amber.TrustDerived))
}

// OfSession returns the passages of the summary of a session. A session without a summary has
// none.
func OfSession(s amber.Session) []Text {
	if strings.TrimSpace(s.Summary) == "" {
		return nil
	}
	scope, identity := reach(s.Project, s.ID)
	trust := s.Trust
	if trust == "" {
		trust = amber.TrustDerived
	}
	title := s.Name
	if title == string(s.ID) {
		title = ""
	}
	return plainTexts(SourceSession, string(s.ID), title, s.Summary, s.UpdatedAt, facets(SourceSession, scope, identity, trust))
}

// OfActivity returns the passages of what failed.
func OfActivity(owner string, a amber.Activity, project string) []Text {
	if a.Failed == 0 {
		return nil
	}
	scope, identity := reach(project, a.SessionID)
	return plainTexts(SourceActivity, owner, a.Name, a.Detail, a.LastAt, facets(SourceActivity, scope, identity, amber.TrustDerived))
}

func plainTexts(source, owner, title, text string, at amber.Time, facets []string) (out []Text) {
	for i, part := range Cut(text) {
		out = append(out, Text{
			Passage: Passage{Source: source, Owner: owner, Part: i, At: at.UnixMilli()},
			Fields:  []Field{{title, titleWeight}, {part, 1}}, Facets: facets, Meant: joined(title, part),
		})
	}
	return out
}
