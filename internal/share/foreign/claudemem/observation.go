package claudemem

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// idMark begins the concept that holds the id of a memory.
const idMark = "amber-"

// kinds are the types of observations that have a kind of their own.
var kinds = map[string]amber.MemoryKind{
	"bugfix": amber.HistoricalCase, "decision": amber.ProjectFact, "feature": amber.ProjectFact, "change": amber.ProjectFact,
	"refactor": amber.ProjectFact, "discovery": amber.ProjectFact,
}

func kindOf(typ string) amber.MemoryKind {
	if k, ok := kinds[typ]; ok {
		return k
	}
	if strings.HasPrefix(typ, "security_") {
		return amber.Constraint
	}
	return amber.WorkspaceFact
}

// observation gives out an observation.
func (r *reader) observation(at foreign.Place, x row) error {
	project, own := project(x, r.o)
	if own {
		return nil
	}
	created, err := timeOf(x, "created_at")
	typ := strings.ToLower(strings.TrimSpace(x.Text("type")))
	switch {
	case err != nil:
		r.to.Skip(at, "created_at: %v", err)
		return nil
	case typ == "sensitive" && !r.o.Sensitive:
		r.to.Skip(at, "observation is marked as sensitive, and such rows were not asked for")
		return nil
	}
	session := memorySession(x)
	m := foreign.Memory{
		Place: at, Key: foreign.Key{session, x.Text("title"), epoch(x)}, Kind: kindOf(typ),
		Identities: amber.Identities{SessionID: r.sessionOf(session), ProjectID: project},
		Title:      x.Text("title"), Summary: x.Text("subtitle"), Content: said(x), SourceRefs: files(x, "files_read", "files_modified"),
		CreatedAt: created, UpdatedAt: created,
	}
	m.Tags, m.AmberID = foreign.CutID(list(x, "concepts"), idMark)
	fields := kept(x, "type", "memory_session_id", "sdk_session_id", "prompt_number", "agent_type", "agent_id", "metadata",
		"generated_by_model", "origin_device_id", "origin_local_id")
	keepLists(fields, x, "files_read", "files_modified")
	if x.Text("merged_into_project") != "" {
		fields["project"] = x.Text("project")
	}
	m.Keep(fields)
	return r.memory(m)
}

// said returns the text of an observation: the narrative and the facts, else the text of older rows, else what there is.
func said(r row) string {
	var parts []string
	if s := strings.TrimSpace(r.Text("narrative")); s != "" {
		parts = append(parts, r.Text("narrative"))
	}
	if facts := list(r, "facts"); len(facts) > 0 {
		parts = append(parts, "- "+strings.Join(facts, "\n- "))
	}
	if len(parts) == 0 {
		return r.Text("text", "subtitle", "title")
	}
	return strings.Join(parts, "\n\n")
}

// files returns the files that columns list, each once, as many as a memory takes: all of them are in the foreign field.
func files(r row, columns ...string) []amber.SourceRef {
	var out []amber.SourceRef
	seen := map[string]bool{}
	for _, c := range columns {
		for _, f := range list(r, c) {
			if !seen[f] && len(out) < amber.MaxSourceRefs {
				seen[f] = true
				out = append(out, amber.SourceRef{Kind: "file", Value: f})
			}
		}
	}
	return out
}

func keepLists(fields foreign.Object, r row, columns ...string) {
	for _, c := range columns {
		if l := list(r, c); len(l) > 0 {
			fields[c] = l
		}
	}
}
