// Package api is a client of an OpenViking server: the calls that Amber needs of its HTTP
// interface, with bounds, and with errors that tell an outage from a refusal.
package api
