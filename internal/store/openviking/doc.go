// Package openviking is a composite store: a durable primary, and an OpenViking server as second
// home and semantic index of its long-term memories.
//
// Every call goes to the primary. A write is durable and acknowledged before the server hears of
// it: [Store.Feed] reads the change log of the primary from a durable cursor and makes the files
// of the server equal to the live memories, at least once and in any order. The life of a memory:
//
//	Write ── primary (durable, acknowledged) ── change log ── Feed ── one file per version ── vector
//	Recall ── primary ┐
//	       └─ Find ── names ── checked against the primary ── placed between the primary's hits
//
// No text ever comes from the server: a hit is a name, and the memory of that name is loaded from
// the primary and has to pass the whole filter of the question. A name has the digest of what was
// sent, so a file of an older version is known by its name.
//
// An outage of the server slows nothing and fails nothing: a recall says in its result what was
// left out, and the feeder goes on later.
package openviking
