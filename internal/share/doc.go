// Package share names the wing in which memory moves between machines and between programs.
//
// Package gitsync exchanges memory through a folder in git. Package foreign reads and writes other people's formats, one package for
// each, and foreign/transfer carries their content into a store. Package colony keeps documents in a vault.
//
// The three know nothing of each other, but for the format of Engram, which gitsync finds in folders. The wing may use store,
// capture, guard and base, and it opens no agent: the contracts of the root are handed in.
package share
