// Package client is Amber over HTTP: the root contracts of an agent that is
// served elsewhere.
//
// Code that works with an [amber.Store] works with a remote one unchanged. Four
// answers stay four: what is absent is not_found, what the server refuses is
// refused, what does not answer, or answers what no Amber would, is
// unreachable, and an answer whose bytes make no sense is damaged. Only what may
// be done twice is tried again: reads, writes that say they are repeatable or
// carry an idempotency key, and whatever never left this machine.
//
// An operation without a method here is called where it is declared, since an
// [Agent] and a [Client] are places for operations: op.TurnList.Call(ctx, agent, in).
package client
