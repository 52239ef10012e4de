// Package server is what the doors of a served Amber have in common, whatever
// they speak: who asks, which agent it is about, and what is written down.
//
// The life of one request:
//
//	caller    a door finds out who asks and puts the [Caller] into the context
//	allow     [Desk.Do] looks whether the grant reaches the agent and has the scope
//	open      the [Pool] opens the agent, or has it open already
//	act       the door's own function does the work on the root contracts
//	record    a change is written to the audit log before it is acknowledged
//
// A caller whose grant does not reach an agent is told that the agent is not there, before
// anything is looked at: the answer and its time are the same whether it is or
// not. [Crew] runs what happens in the background and tells how it is doing.
package server
