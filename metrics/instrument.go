package metrics

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/wire"
)

// The layers of operations that are told to observers, beside those of
// [amber.Layer].
const (
	layerJournal    = "journal"
	layerSync       = "sync"
	layerSnapshots  = "snapshots"
	layerRepository = "repository"
	layerEvents     = "events"
)

// Instrument returns s with every call told to the observers, the first of
// them outermost. A part that s does not have stays as it is, and so do the
// capabilities.
func Instrument(tenant amber.TenantID, agent amber.AgentID, s amber.Store, observers ...wire.Observer) amber.Store {
	if len(observers) == 0 {
		return s
	}
	p := s.Present()
	in := func(layer amber.Layer) watched {
		return watched{wire.Operation{Tenant: tenant, Agent: agent, Layer: string(layer)}, observers}
	}
	instrumentMemory(&s, p, in(amber.LayerLongTerm))
	instrumentSessions(&s, p, in)
	instrumentControl(&s, p, in(amber.LayerControl))
	if p.Notes != nil {
		s.Notes = notes{in(amber.LayerNotes), p.Notes}
	}
	if p.NoteLog != nil {
		s.NoteLog = noteLog{in(amber.LayerNotes), p.NoteLog}
	}
	if p.Sync != nil {
		s.Sync = replica{in(layerSync), p.Sync}
	}
	return s
}

func instrumentMemory(s *amber.Store, p amber.Parts, w watched) {
	if p.LongTerm != nil {
		s.LongTerm = longTerm{w, p.LongTerm}
	}
	if p.Memories != nil {
		s.Memories = memories{w, p.Memories}
	}
	if p.Batch != nil {
		s.Batch = batch{w, p.Batch}
	}
	if p.Editor != nil {
		s.Editor = editor{w, p.Editor}
	}
	if p.Eraser != nil {
		s.Eraser = eraser{w, p.Eraser}
	}
	if p.Relations != nil {
		s.Relations = relations{w, p.Relations}
	}
	if p.Concepts != nil {
		s.Concepts = concepts{w, p.Concepts}
	}
	if p.Stats != nil {
		s.Stats = stats{w, p.Stats}
	}
	if p.Changes != nil {
		s.Changes = changes{w, p.Changes}
	}
}

func instrumentSessions(s *amber.Store, p amber.Parts, in func(amber.Layer) watched) {
	if p.Turns != nil {
		s.Turns = turns{in(amber.LayerTurns), p.Turns}
	}
	if p.Compactions != nil {
		s.Compactions = compactions{in(amber.LayerTurns), p.Compactions}
	}
	if p.Loops != nil {
		s.Loops = loops{in(amber.LayerLoops), p.Loops}
	}
	if p.Sessions != nil {
		s.Sessions = sessions{in(amber.LayerSessions), p.Sessions}
	}
	if p.Names != nil {
		s.Names = names{in(amber.LayerSessions), p.Names}
	}
	if p.Active != nil {
		s.Active = active{in(amber.LayerSessions), p.Active}
	}
	if p.States != nil {
		s.States = states{in(amber.LayerSessions), p.States}
	}
	if p.Activities != nil {
		s.Activities = activities{in(amber.LayerSessions), p.Activities}
	}
	if p.Ingest != nil {
		s.Ingest = ingester{in(layerJournal), p.Ingest}
	}
}

func instrumentControl(s *amber.Store, p amber.Parts, w watched) {
	if p.Tasks != nil {
		s.Tasks = tasks{w, p.Tasks}
	}
	if p.Events != nil {
		s.Events = taskEvents{w, p.Events}
	}
	if p.Approvals != nil {
		s.Approvals = approvals{w, p.Approvals}
	}
	if p.Results != nil {
		s.Results = results{w, p.Results}
	}
	if p.Queue != nil {
		s.Queue = queue{w, p.Queue}
	}
	if p.QueueKeeper != nil {
		s.QueueKeeper = queueKeeper{w, p.QueueKeeper}
	}
	if p.ControlChanges != nil {
		s.ControlChanges = changes{w, p.ControlChanges}
	}
	if p.Documents != nil {
		s.Documents = documents{w, p.Documents}
	}
}

// InstrumentSnapshots is [Instrument] for the snapshots of an agent. An empty
// tenant means that they are of many agents: each operation is of the one it
// asks about.
func InstrumentSnapshots(tenant amber.TenantID, agent amber.AgentID, s wire.Snapshotter, observers ...wire.Observer) wire.Snapshotter {
	if len(observers) == 0 {
		return s
	}
	return snapshotter{watched{wire.Operation{Tenant: tenant, Agent: agent, Layer: layerSnapshots}, observers}, s}
}

// InstrumentRepository is [Instrument] for the checks of a tenant's repository.
func InstrumentRepository(tenant amber.TenantID, c wire.RepositoryChecker, observers ...wire.Observer) wire.RepositoryChecker {
	if len(observers) == 0 {
		return c
	}
	return checker{watched{wire.Operation{Tenant: tenant, Layer: layerRepository}, observers}, c}
}

// InstrumentPublisher is [Instrument] for a publisher; an operation is of the
// agent its event is about.
func InstrumentPublisher(p events.Publisher, observers ...wire.Observer) events.Publisher {
	if len(observers) == 0 {
		return p
	}
	return publisher{watched{wire.Operation{Layer: layerEvents}, observers}, p}
}
