// Package vaultapi serves the vault of an agent over HTTP, as the service does
// that colony-memory/1 was made for: its clients need another base URL and
// nothing else. docs/vault.md has the routes, docs/server.md the codes of errors.
//
// The life of one request:
//
//	route     the path is split by hand: names of files hold slashes and escapes
//	caller    the access token is opened, and the secret inside asked for again
//	rate      the agent's requests, changes, searches and exports are counted
//	once      a change with an Idempotency-Key that was answered is not done again
//	act       through the [server.Desk], which knows scopes and the audit log
//
// A token of Amber is the API key. It must be for one agent, whose vault it is.
package vaultapi
