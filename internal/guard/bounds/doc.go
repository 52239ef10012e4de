// Package bounds answers a caller who is bound to a user, a project or a workspace as if an agent held nothing of others.
//
//	door ── request ──> bounds: names the caller's own ──> store
//	        answer  <── bounds: without what is of others <──
//
// Every door of a server hands such a caller a store from [New], so no tool and no route
// has to look whose record an id names.
//
// [Limit.sees] alone decides which records a caller sees: those of the caller's user, project or workspace, and global
// ones. An identity that the bound does not name stays open. A record without identities belongs to its session, a
// session to its project and to the caller who started it: see [tag].
//
// A record of others is asked for under an id that no record has, so that the store itself answers, in the same words
// and as fast as for a record that does not exist. A request that would make a record under an id of others is a
// conflict, which says no more than that the id is taken.
//
// Parts of a store that have no identities at all, the queue and the documents of runtime state, are closed. Notes are
// open: they are everybody's, as global records are.
package bounds
