// Package ovtest holds the promises of an OpenViking server, as far as Amber relies
// on them, as one suite that runs against any URL over plain HTTP. Its tests ask the
// fake of package ovfake, and a real server where there is one: equal results are what
// makes the fake trustworthy.
//
// Some of the promises are defects that a client has to know, such as a file that is
// found after it was deleted. They are asked so that a release that mends one is
// noticed.
package ovtest
