// Package freeze names the wing that seals one moment of an agent and brings it back.
//
// Package snapshot is the engine: it fences the writers, captures files into a repository, verifies, restores and retains. Package
// repo is the deduplicated repository, package target the places where its objects lie, package bundle the one file that leaves the
// machine, package nexo the databases inside bundles of nexo. Package keyring holds the keys, packages envelope and filesig sign and
// seal. Package move carries an agent between a home and a PostgreSQL database.
//
// The wing may use store, capture, recall, guard and base. Package repo and package bundle know no engine.
package freeze
