package web

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/wire"
)

// auditScreen is the audit log and its check.
type auditScreen struct{ *visit }

func auditRoutes(p *Page) {
	p.get("/audit", func(v *visit) error { return auditScreen{v}.audit(nil) })
	p.post("/audit/verify", on(auditScreen.verifyAudit))
}

// homePart is a part of the home that a visitor can ask about.
type homePart struct {
	Name, Title string
	Tenant      amber.TenantID
	Agent       amber.AgentID
}

// homeParts are the parts that the visitor may see, the widest first.
func (v *visit) homeParts() (parts []homePart) {
	if v.grant.Tenant == "" {
		parts = append(parts, homePart{Name: "home", Title: "every tenant"})
	}
	if v.grant.Agent == "" {
		parts = append(parts, homePart{"tenant", "tenant " + string(v.tenant), v.tenant, ""})
	}
	return append(parts, homePart{"agent", "agent " + string(v.agent), v.tenant, v.agent})
}

// homePart is the part with a name. Errors: invalid for any other name.
func (v *visit) homePart(name string) (homePart, error) {
	var names []string
	for _, p := range v.homeParts() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return homePart{}, amber.Errorf(amber.KindInvalid, "read part", "", "the part is %q, want %s", clip.Marked(name, 40), strings.Join(names, " or "))
}

// auditData is what the screen of the audit log shows.
type auditData struct {
	Parts         []homePart
	Part          string
	Actor, Action string
	Page          amber.Page[wire.AuditEntry]
	MayVerify     bool
	Report        *wire.AuditReport // of a check just now
}

func (v auditScreen) audit(report *wire.AuditReport) error {
	part, err := v.homeParts()[0], error(nil)
	if name := v.query("part"); name != "" && v.may(wire.TokenAdmin) { // without admin the API refuses every part
		if part, err = v.homePart(name); err != nil {
			return err
		}
	}
	d := auditData{Parts: v.homeParts(), Part: part.Name, Actor: v.query("actor"), Action: v.query("action"), MayVerify: v.grant.Tenant == "" && v.may(wire.TokenAdmin), Report: report}
	d.Page, err = v.api.ListAudit(v.r.Context(), wire.AuditQuery{
		Tenant: part.Tenant, Agent: part.Agent, Actor: d.Actor, Action: d.Action, Limit: pageSize, Cursor: amber.Cursor(v.query("cursor")),
	})
	if err != nil {
		return err
	}
	return v.render("audit", screen{Title: "Audit log", Nav: "audit", Command: auditCommand(part, d.Actor, d.Action)}, d)
}

// auditCommand is the command that lists the same entries.
func auditCommand(p homePart, actor, action string) string {
	line := "amber audit list"
	for _, f := range [][2]string{{"tenant", string(p.Tenant)}, {"agent", string(p.Agent)}, {"actor", actor}, {"action", action}} {
		if f[1] != "" {
			line += " --" + f[0] + " " + shell(f[1])
		}
	}
	return line
}

// verifyAudit lets the server recompute the log, and shows the report of that.
func (v auditScreen) verifyAudit() error {
	report, err := v.api.VerifyAudit(v.r.Context())
	if err != nil {
		return err
	}
	return v.audit(&report)
}
