// Package config turns a configuration into one resolved [amber.Store].
//
// It has two halves that meet in [Config]. [Load] reads the configuration:
// defaults, then the file, then the environment, then flags, each stronger
// than the one before. A [Registry] knows backends by name; its Resolve opens
// the ones a Config asks for, gives each layer to its backend, and reports how
// it decided.
//
//	defaults < file < environment < flags
//	                 |
//	               Load ----> Config ----> Registry.Resolve ----> Store, Policy, Report
//	                                        (named factories)
//
// One table, [Keys], is the schema. It drives parsing, bounds, environment
// names and docs/config.md, so a key is added in one place.
//
// Two rules hold throughout. Nothing that a user wrote is ignored: an unknown
// key, a wrong type or a backend that is missing is an error that names it.
// And a cap cannot be configured away: a number above it is lowered, and the
// lowering is reported.
package config
