// Package recall names the wing that brings the right memory back.
//
// Package analyze turns a text into terms, package embed turns it into a vector, and package search keeps both as an index whose
// rows any database can hold, and ranks what the index finds. Package policy decides what is recalled without being asked. Package
// block builds the block of memory that stands before a prompt. Package eval measures recall and context on sets of questions.
//
// The wing opens no store and no file of an agent: a backend hands the rows in. It may use guard and base. The wings capture,
// store and freeze use it, and so do the operations.
package recall
