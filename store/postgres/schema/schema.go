// Package schema is what Amber looks like in a PostgreSQL database: the tables, and the
// migrations that make and change them while programs of two versions work on it.
//
// The rows of agents are in the schemas amber (the tables of memory.db) and amber_control
// (those of control.db), each with the generation of its agent in front of every key.
// What belongs to no agent alone is in amber_meta.
//
// A transaction on the rows of an agent begins with
//
//	SET LOCAL ROLE amber_app; SET LOCAL amber.gen = 7; SET LOCAL search_path = amber
//
// and sees and writes that generation alone. Without the setting every statement fails.
package schema

import "embed"

//go:embed migrations/*.sql
var files embed.FS
