// Package base names the wing of the small rooms that everything else stands on.
//
// Package fsx is the one way to durable files. Packages sqlconn, sqlpages, pgdb and pgerr open databases, gitobj and gitrun read and
// write git, proc and gitrun start programs. Package strictjson reads JSON of strangers, names decides which file names are safe,
// events carries what happened to those who listen. The rest are texts, times and queues.
//
// A room here has one subject and knows no agent, no store and no door. It uses the root at most, and the rooms beside it that
// internal/archtest names.
package base
