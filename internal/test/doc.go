// Package test names the wing that only tests use.
//
// Package must says that a call succeeds or fails with a kind, package golden compares with files, package promise runs suites of
// promises. Packages crashfs and errfs are disks that lose power or fail, package pgtest starts real PostgreSQL servers and kills
// them, package ovfake is an OpenViking server in memory.
//
// The product does not import this wing. Suites and doubles may, whose names end in test, such as store/storetest, since the doctor
// runs that suite on a user's disk.
package test
