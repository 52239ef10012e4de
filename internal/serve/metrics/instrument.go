package metrics

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
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
	replace[amber.Notes](&s.Notes, p.Notes, notes{in(amber.LayerNotes), p.Notes})
	replace[amber.NoteLog](&s.NoteLog, p.NoteLog, noteLog{in(amber.LayerNotes), p.NoteLog})
	replace[amber.Replica](&s.Sync, p.Sync, replica{in(layerSync), p.Sync})
	return s
}

// replace puts a watched part in the place of a part that is present.
func replace[T any](field *T, present, watched T) {
	if any(present) != nil {
		*field = watched
	}
}

func instrumentMemory(s *amber.Store, p amber.Parts, w watched) {
	replace[amber.LongTerm](&s.LongTerm, p.LongTerm, longTerm{w, p.LongTerm})
	replace[amber.MemoryReader](&s.Memories, p.Memories, memories{w, p.Memories})
	replace[amber.BatchWriter](&s.Batch, p.Batch, batch{w, p.Batch})
	replace[amber.Editor](&s.Editor, p.Editor, editor{w, p.Editor})
	replace[amber.Eraser](&s.Eraser, p.Eraser, eraser{w, p.Eraser})
	replace[amber.Relations](&s.Relations, p.Relations, relations{w, p.Relations})
	replace[amber.Concepts](&s.Concepts, p.Concepts, concepts{w, p.Concepts})
	replace[amber.StatsReader](&s.Stats, p.Stats, stats{w, p.Stats})
	replace[amber.ChangeLog](&s.Changes, p.Changes, changes{w, p.Changes})
}

func instrumentSessions(s *amber.Store, p amber.Parts, in func(amber.Layer) watched) {
	replace[amber.Turns](&s.Turns, p.Turns, turns{in(amber.LayerTurns), p.Turns})
	replace[amber.Compactions](&s.Compactions, p.Compactions, compactions{in(amber.LayerTurns), p.Compactions})
	replace[amber.Loops](&s.Loops, p.Loops, loops{in(amber.LayerLoops), p.Loops})
	replace[amber.Sessions](&s.Sessions, p.Sessions, sessions{in(amber.LayerSessions), p.Sessions})
	replace[amber.SessionEditor](&s.Names, p.Names, names{in(amber.LayerSessions), p.Names})
	replace[amber.ActiveSessions](&s.Active, p.Active, active{in(amber.LayerSessions), p.Active})
	replace[amber.SessionStates](&s.States, p.States, states{in(amber.LayerSessions), p.States})
	replace[amber.Activities](&s.Activities, p.Activities, activities{in(amber.LayerSessions), p.Activities})
	replace[amber.Ingester](&s.Ingest, p.Ingest, ingester{in(layerJournal), p.Ingest})
}

func instrumentControl(s *amber.Store, p amber.Parts, w watched) {
	replace[amber.Tasks](&s.Tasks, p.Tasks, tasks{w, p.Tasks})
	replace[amber.TaskEvents](&s.Events, p.Events, taskEvents{w, p.Events})
	replace[amber.Approvals](&s.Approvals, p.Approvals, approvals{w, p.Approvals})
	replace[amber.Results](&s.Results, p.Results, results{w, p.Results})
	replace[amber.Queue](&s.Queue, p.Queue, queue{w, p.Queue})
	replace[amber.QueueKeeper](&s.QueueKeeper, p.QueueKeeper, queueKeeper{w, p.QueueKeeper})
	replace[amber.ChangeLog](&s.ControlChanges, p.ControlChanges, changes{w, p.ControlChanges})
	replace[amber.Documents](&s.Documents, p.Documents, documents{w, p.Documents})
}

// InstrumentSnapshots is [Instrument] for the snapshots of an agent. An empty
// tenant or agent means that they are of many: each operation is of the one it
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
