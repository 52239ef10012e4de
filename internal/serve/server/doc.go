// Package server is what the doors of a served Amber have in common, in every protocol: who asks, which agent the
// request is about, and what is written down.
//
// The life of one request:
//
//	caller    a door finds out who asks and puts the [Caller] into the context
//	allow     [Desk.Do] checks that the grant reaches the agent and has the scope
//	open      the [Pool] opens the agent, or has it open already
//	act       the door's own function does the work on the root contracts
//	record    a change is written to the audit log before it is acknowledged
//
// A caller whose grant does not reach an agent gets the answer that the agent is not there, before the server looks
// at anything: the answer and its time are the same whether the agent exists or not. [Crew] runs the workers of the
// background and reports how they are doing.
package server
