// Package mcpapi speaks the Model Context Protocol: agents reach their memory through tools, resources and prompts.
// It is a door of package server, beside HTTP.
//
// The life of one call:
//
//	line or request  bounded, UTF-8, JSON; any other gets an error and the next one is read
//	arguments        checked against the tool's schema, in words an agent can act on
//	desk             [server.Desk.Do]: grant, agent, audit log, as at every other door
//	answer           structured content and a short text, both bounded
//
// A tool that fails answers with isError and the [wire.Failure] of the error; errors of the protocol itself carry
// the code of [amber.Kind.MCPCode]. The text of memories is data, and is handed out as such.
//
// Tools come in profiles, see [Check]; docs/mcp.md lists them. A caller sees no tool that its grant has no scope
// for.
package mcpapi
