package wire

import (
	"slices"
	"strconv"

	"github.com/amber-memory/amber"
)

// Asked is the answer to a question to everything. Its hits stand by group, and within a group best first.
type Asked struct {
	amber.RecallResult
	Groups []AskGroup `json:"groups"`
	// All says that everything was asked. It is false in the shell of an agent: the answer holds what the project sees.
	All bool `json:"all"`
}

// Recalled is the answer of the command line to a question that its folder sees.
type Recalled struct {
	amber.RecallResult
	// Elsewhere are the groups that hold better hits, which a question to everything finds.
	Elsewhere []AskGroup `json:"elsewhere,omitempty"`
}

// AskGroup is the place of some hits: a project, or what belongs to none.
type AskGroup struct {
	Name    string `json:"name"`                 // for people
	Project string `json:"project_id,omitempty"` // "" for what belongs to none
	Here    bool   `json:"here"`                 // the project that the question was asked in
	Hits    int    `json:"hits"`                 // how many there are
}

// The names of groups that are no project. No project has one of them: each holds a blank that ids of projects may have, so
// a reader goes by the project of the group.
const (
	groupNotes    = "notes"
	groupGlobal   = "every project"
	groupChats    = "imported chats"
	groupSessions = "sessions outside of projects"
	groupUsers    = "users"
	groupSpaces   = "workspaces"
)

// groupOf returns the group of a hit.
func groupOf(h amber.Hit, here string) AskGroup {
	g := AskGroup{Name: h.ProjectID, Project: h.ProjectID, Here: h.ProjectID != "" && h.ProjectID == here}
	switch {
	case h.Layer == amber.LayerNote:
		g = AskGroup{Name: groupNotes}
	case h.ProjectID != "":
	case h.Scope == amber.ScopeUser:
		g.Name = groupUsers
	case h.Scope == amber.ScopeWorkspace:
		g.Name = groupSpaces
	case h.Scope == amber.ScopeSession && h.Trust == amber.TrustImported:
		g.Name = groupChats
	case h.Scope == amber.ScopeSession:
		g.Name = groupSessions
	default:
		g.Name = groupGlobal
	}
	return g
}

// asLikely is how far the best hit of the project that a question was asked in may lie behind another one and still stand first.
const asLikely = 0.05

// Grouped puts the hits of an answer into groups, in the order of the best hit of each. The group of the project that the
// question was asked in stands first where its best hit is as likely.
func Grouped(r amber.RecallResult, here string) Asked {
	out := Asked{RecallResult: r, Groups: []AskGroup{}, All: true}
	var of [][]amber.Hit
	for _, h := range r.Hits {
		g := groupOf(h, here)
		i := slices.IndexFunc(out.Groups, g.same)
		if i < 0 {
			i = len(out.Groups)
			out.Groups, of = append(out.Groups, g), append(of, nil)
		}
		out.Groups[i].Hits++
		of[i] = append(of[i], h)
	}
	i := slices.IndexFunc(out.Groups, func(g AskGroup) bool { return g.Here })
	if i > 0 && of[i][0].Score >= of[0][0].Score-asLikely {
		first, hits := out.Groups[i], of[i]
		out.Groups = slices.Insert(slices.Delete(out.Groups, i, i+1), 0, first)
		of = slices.Insert(slices.Delete(of, i, i+1), 0, hits)
	}
	out.Hits = slices.Concat(of...)
	if out.Hits == nil {
		out.Hits = []amber.Hit{}
	}
	return out
}

// same reports whether two groups are of one place.
func (g AskGroup) same(o AskGroup) bool { return g.Project == o.Project && g.Name == o.Name }

// Of returns the hits of each group.
func (a Asked) Of() (of [][]amber.Hit) {
	hits := a.Hits
	for _, g := range a.Groups {
		of, hits = append(of, hits[:g.Hits]), hits[g.Hits:]
	}
	return of
}

// Heading names a group for people.
func (g AskGroup) Heading() string {
	if g.Here {
		return g.Name + " (here)"
	}
	return g.Name
}

// leastElsewhere is the score below which no hit elsewhere is worth a word.
const leastElsewhere = 0.05

// Elsewhere returns the groups of the hits that everything has before the best hit of the answer here, and that a question
// here does not see.
func Elsewhere(here, everything amber.RecallResult, who amber.Identities) []AskGroup {
	if len(everything.Hits) == 0 {
		return nil
	}
	least := max(leastElsewhere, everything.Hits[0].Score/2)
	var better []amber.Hit
	for _, h := range everything.Hits {
		seen := func(o amber.Hit) bool { return o.Provenance.Locator == h.Provenance.Locator }
		if h.Score < least || slices.ContainsFunc(here.Hits, seen) {
			break
		}
		if len(here.Hits) > 0 && h.Score <= here.Hits[0].Score {
			break
		}
		if h.Layer == amber.LayerNote || who.Sees(h.Scope, amber.Identities{ProjectID: h.ProjectID, SessionID: h.SessionID}) {
			continue
		}
		better = append(better, h)
	}
	if better == nil {
		return nil
	}
	return Grouped(amber.RecallResult{Hits: better}, who.ProjectID).Groups
}

// ElsewhereLine says where better hits lie; "" where none do.
func ElsewhereLine(groups []AskGroup) string {
	line := ""
	for i, g := range groups {
		switch {
		case i > 0:
			line += ", " + strconv.Itoa(g.Hits) + " in " + g.Name
		case g.Hits == 1:
			line = "1 better hit in " + g.Name
		default:
			line = strconv.Itoa(g.Hits) + " better hits in " + g.Name
		}
	}
	return line
}
