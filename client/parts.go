package client

import "github.com/amber-memory/amber"

// parts are the contracts that the server's backend can do; the others stay
// nil. Where memory is switched off the server is still asked: it finds
// nothing, and says why it refuses.
func (a *Agent) parts(can amber.Capabilities) amber.Parts {
	if switchedOff := (amber.Capabilities{Control: can.Control, Documents: can.Documents}); can == switchedOff {
		control, documents := can.Control, can.Documents
		can = every()
		can.Control, can.Documents = control, documents
	}
	l := longTerm{a}
	p := amber.Parts{LongTerm: l, Semantic: can.Semantic}
	if can.Memories {
		p.Memories = l
	}
	if can.Batch {
		p.Batch = l
	}
	if can.Edit {
		p.Editor = l
	}
	if can.Erase {
		p.Eraser = l
	}
	a.besideParts(&p, can)
	a.sessionParts(&p, can)
	a.logParts(&p, can)
	if can.Stats {
		p.Stats = stats{a}
	}
	if can.Control {
		c, q := control{a}, queue{a}
		p.Tasks, p.Events, p.Approvals, p.Results, p.Queue, p.QueueKeeper = c, c, c, c, q, q
	}
	return p
}

// every is what a server can do at most.
func every() amber.Capabilities {
	return amber.Capabilities{
		Memories: true, Batch: true, Edit: true, Erase: true, Relations: true, Concepts: true, Compactions: true,
		Stats: true, Changes: true, Turns: true, Loops: true, Sessions: true, States: true, Notes: true, Ingest: true, Control: true, Documents: true,
	}
}

// besideParts hang on memories.
func (a *Agent) besideParts(p *amber.Parts, can amber.Capabilities) {
	b := beside{a}
	if can.Relations {
		p.Relations = b
	}
	if can.Concepts {
		p.Concepts = b
	}
}

// sessionParts belong to sessions.
func (a *Agent) sessionParts(p *amber.Parts, can amber.Capabilities) {
	if can.Sessions {
		p.Sessions, p.Names, p.Active = sessions{a}, sessions{a}, sessions{a}
	}
	if can.States {
		p.States = states{a}
	}
	if can.Loops {
		p.Loops = states{a}
	}
	if can.Turns {
		p.Turns = turns{a}
	}
	if can.Compactions {
		p.Compactions = turns{a}
	}
	if can.Ingest {
		p.Ingest, p.Activities = ingester{a}, turns{a}
	}
}

// logParts are notes, the change logs and runtime state.
func (a *Agent) logParts(p *amber.Parts, can amber.Capabilities) {
	if can.Notes {
		p.Notes, p.NoteLog = notes{a}, notes{a}
	}
	if can.Changes {
		p.Changes = changeLog{a, "changes"}
	}
	if can.Control {
		p.ControlChanges = changeLog{a, "control-changes"}
	}
	if can.Documents {
		p.Documents = documents{a}
	}
}
