// Package repo keeps blobs in packs on a target: the storage under snapshots.
//
// A blob is bytes with an id, SHA-256 over its kind and what it says, keyed if
// it is encrypted. It is written once, compressed on its own, and lies with
// others in a pack of about 4 MiB. A pack ends with the directory of its blobs.
// Index objects repeat the directories of packs, so that opening a
// repository does not read every pack; they can always be made again.
//
// The life of one blob:
//
//	Put      the id is known already: nothing is stored
//	seal     compressed, unless that does not make it smaller, and encrypted
//	pack     behind the blobs before it, in the order of Put
//	upload   the pack is full, or Flush is called: the pack is durable
//	index    Flush writes the index object that names the packs
//	Get      found in the index, read, checked against its id, handed out
//
// A blob is stored when Flush has returned: packs before the index object that
// names them, each durable before the next. A crash in between leaves packs that
// no index names. They take space until a gc removes them or [Repo.Rebuild]
// takes them up; nothing refers to them.
//
// # Snapshots
//
// A [Catalog] knows the snapshots of a repository. A snapshot is a [Manifest],
// a small object that names one blob, its [Inner] manifest, which names
// everything else: databases by page, folders, git objects. Snapshots of one
// device are a chain, so that a missing one is noticed; a deleted one leaves a
// [Stub]. [Repo.CollectGarbage] frees what no snapshot needs, without locks;
// [Repo.Audit] checks everything there is.
//
// # Encryption
//
// A repository may have a key, which is kept in a record that age has encrypted
// to some recipients. From then on everything is sealed: blobs have keyed ids and
// are encrypted each on its own, so that they still are stored once. [Options]
// name the identities that open it; without one it is locked, and can be listed
// and checked as far as that goes. [Repo.SetRecipients] changes who can open it
// and makes other keys; nothing is shared between keys.
//
// # Trust
//
// Another person or program may have changed, swapped, cut or made up objects. Everything read is bounded and checked,
// and no plaintext leaves this package whose id was not computed from it. A damaged or missing index object is reported
// by [Repo.Problems] and mended by [Repo.Rebuild]; a blob that lies in several packs is read from any that is intact.
//
// The bytes are described in docs/format/repository.md.
package repo
