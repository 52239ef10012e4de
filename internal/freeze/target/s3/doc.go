// Package s3 is a target in a bucket of S3, or of a server that speaks like it.
//
//	<bucket>/<prefix>/
//	  packs/3f/3f9c…   an object, its key is its name
//	  snapshots/…
//	  .amber-probe     what conditions of writes are tried on
//
// These are the names and the bytes of a target in a folder, so that one can be
// copied to the other while no process writes.
//
// # The life of an object
//
// Put reads the object, up to 16 MiB of it, before it asks for anything: a
// reader that gives the wrong number of bytes has stored nothing. The object
// then goes out in one request, with its MD5 and its SHA-256 for the server to
// compare, on the condition that there is none (If-None-Match: *). The object
// is durable when the server has answered 200, and so is one about which it
// answers 412, that it is there; S3 shows nothing that is not. No answer is no
// object: Put returns an error, and the object may be there.
//
// An object of more than 16 MiB goes in parts of that size, one in memory at a
// time. It appears with the last request, whose answer is the point of
// durability, and which has the condition. A write that fails removes its
// parts; those of one that was killed are invisible, cost money, and are removed
// by [Target.Sweep], or by a rule of the bucket.
//
// Get goes on where it was when a connection breaks or stands still, with
// If-Match, and compares the ETag and the size as well, so that what it reads is
// one object. List asks for a thousand keys at a time. Nothing is ever written
// to a disk of this computer.
//
// # Conditions
//
// Some servers take a condition and ignore it. So before its first write a
// target tries to create .amber-probe, which has to fail at the second time at
// the latest. Where a server does not heed that, Put looks first and then
// writes, which is enough for objects whose name says what they hold. But two
// writers at once may both get the answer that they created the object.
//
// Every write leaves a mark with the object, a random text in its metadata. A
// request whose answer was lost is made again, and by the mark it knows whether
// what it then finds is its own. See [Target.Put] for what it answers when it
// is not.
//
// # Failures
//
// A failure that may pass (500, 502, 503, 429, SlowDown, 409, a connection that breaks,
// stands still or ends early, an answer that is not one of S3, bytes that
// changed on the way) is tried again, [Options.Attempts] times in all, with
// waits that grow to 8 seconds. A request that the server forbids is refused. An
// object counts as missing only if the server says NoSuchKey; a bucket that is
// gone is unreachable, since its objects may be anywhere. Everything
// else is unreachable, too. Answers are hostile: they are bounded, an element
// that is not a list is not an empty one, and no error shows text that a server
// made up.
//
// # Credentials
//
// They come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN, else from the profile AWS_PROFILE of the file
// AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials, never from a URL. They are
// in no error. The secret key is not sent anywhere. Plain http shows a session
// token, and all that is stored, to the network; it is permitted to this host,
// and to others only when the caller asks for it.
package s3
