// Package documents carries the documents of an agent to a vault and back: it
// reads them from notes, from a folder or from JSON, takes secrets out, plans
// what a restore changes, and writes it to a folder or to notes.
//
// A [Set] goes into [colony.Vault.Backup]; what [colony.Vault.Restore] returns
// is restored with [NewPlan] and [Plan.Write]. A folder is hostile: no link is
// followed below it, no file is replaced that has changed since the plan was
// made, and nothing is written that git or Amber itself would obey.
package documents
