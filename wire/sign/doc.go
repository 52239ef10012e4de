// Package sign has ed25519 signatures as Amber writes them: keys named by did:key,
// signers, and whose signatures count.
package sign
