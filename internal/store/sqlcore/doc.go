// Package sqlcore is the contracts of a store over rows: memories, sessions and
// turns, the index, ingestion, sync, tasks and queues, the change log. It knows the
// tables and opens nothing: package sqlite puts files under it, package postgres a
// server. Both run the same statements.
package sqlcore
