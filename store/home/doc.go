// Package home is the agent folder: which generation is live, who may write
// when, and how a folder comes to be.
//
//	$AMBER_HOME/tenants/<tenant>/agents/<agent>/
//	  CURRENT            names the live generation
//	  CREATING           only while the folder is being made
//	  RESTORING          only while another generation is being built
//	  DELETING           only while the agent is being deleted
//	  MOVED              where the agent went, or comes from, see [Move]
//	  gate, lock         kernel file locks
//	  operation          kernel file lock of snapshots and restores
//	  turn-<store>       kernel file lock, one per store
//	  gen/<n>/           the data of generation n
//	  spool/             the crash journal
//	  parked/<n>/        what was not drained into generation n
//
// No path under an agent is ever renamed, and no generation is live twice: a
// restore builds gen/<n+1> beside the live one and replaces CURRENT. A process
// that still has the old databases open finds out at its next write.
//
// # Who may write when
//
// A writer waits its turn, first inside its process, then between processes;
// takes gate shared and lock shared; drops the gate; reads CURRENT; works;
// drops the lock. A fence or a switch takes gate exclusive, so that no new
// writer gets in, and then lock exclusive, so that those inside are done:
//
//	writer     turn X · gate S · lock S · gate – · CURRENT · transaction · lock – · turn –
//	exclusive  gate X · lock X · everything stands still · lock – · gate –
//
// Without the gate an exclusive waiter starves behind shared holders. Without
// the turn every waiting process would sit inside the lock, and a fence would
// wait for all of their transactions instead of one.
//
// Inside a process the writer that has the turn may take over the work of the
// writers behind it, see [Agent.WriteTogether]: many writers, one turn.
//
// CREATING beside CURRENT is the trace of a creation that was cut off at its
// very end; a writer, and the holder of the exclusive lock, finishes it before anything
// else.
//
// # One generation after another
//
//	restore  operation X · RESTORING · gen/<n+1> · build · gate X · lock X · prepare · sync · CURRENT · RESTORING – ·
//	         lock – · gate – · gen/<n> – · operation –
//
// Before CURRENT is replaced the agent is the old one, afterwards the new one,
// whatever is cut off. RESTORING names the generation to remove, or the switch
// to make durable; a process that finds it while operation is free does that.
// Writers go on while a generation is built. They look for the note once, when
// they first write to a generation.
//
// The whole protocol is written down in docs/format/home.md.
//
// Locks are the kernel's and vanish with their process. There are no pid
// files: process ids and boot ids lie across containers.
package home
