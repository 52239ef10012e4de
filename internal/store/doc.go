// Package store names the wing in which memory lasts.
//
// Package sqlcore keeps the contracts of the root over the rows of package sqlrows. Two engines have such rows: SQLite files, whose
// parts are sqlfile, image and rowfile, with the public package store/sqlite on top, and package postgres. Package openviking puts
// an OpenViking server beside a durable store. Package notes keeps notes under git, and package ledger keeps tokens, the audit log
// and the outbox of a home.
//
// The public packages store/home, store/sqlite, store/inmem and store/storetest are part of the wing. It may use recall, guard and
// base. A backend imports no other backend.
package store
