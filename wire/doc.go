// Package wire has the shapes that travel: requests and reports of snapshots,
// bundles, consolidations, tokens, the audit log, health and errors. The command
// line (--json), the HTTP API and MCP share these definitions. The contracts whose
// requests and answers they are stand beside them: an engine implements them on
// this machine, package client over HTTP.
package wire
