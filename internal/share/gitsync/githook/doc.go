// Package githook lets git call Amber: it puts a few lines into the hooks of a
// work tree, and takes exactly those out again.
//
//	post-merge   imports what the upstream branch holds
//	pre-commit   exports what is new and adds it to the commit; only if asked for
//
// There is no post-checkout hook: checking out the branch of a stranger does
// not import from it. Nothing that the lines do can fail a merge or a commit.
//
// Everything else in a hook stays as it is to the byte. Amber does not touch a
// hook that is no shell script.
package githook
