// Package agekey reads the keys of age: whom something is encrypted to, who can open it, and what the header of an
// encrypted file tells without a key.
//
// There are recipients of three kinds, X25519 (age1…), the post-quantum hybrid (age1pq1…) and SSH keys, and apart from
// them passphrases. A hybrid recipient is only as strong as the weakest beside it, so hybrid ones are not mixed with
// others.
//
// No error of this package repeats what it was given: a secret key is easily pasted where a public one belongs.
package agekey
