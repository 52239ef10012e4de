// Package serve names the wing of the doors: a home over HTTP, MCP, a page and a socket.
//
// Package server is the part that every door shares: who asks, which agents are open, who listens. Package httpapi and package
// mcpapi are loops over the operations of package op, package web is the page for people, package vaultapi serves vaults, and package
// near answers the hooks of the same user. Package daemon ties them together. Packages metrics and trace stand around the contracts,
// package natsbus carries events to a broker.
//
// The wing sees every wing but the command line, and only the command line sees it.
package serve
