// Package colonytest holds the promises of [colony.Backend] as one suite that
// every vault runs, and a vault in memory that can be made to fail.
//
// Nothing sleeps and nothing is timed.
package colonytest
