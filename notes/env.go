package notes

import (
	"fmt"
	"os"
	"time"
)

const (
	branch = "refs/heads/main"
	author = "Amber"
	email  = "amber@localhost"
)

// settings are the options of every git command. They come before what any file says, so that nothing
// in the repository runs a program, converts content, packs behind our back or skips a sync.
func settings(subcommand string) []string {
	pairs := []string{
		"core.hooksPath=" + os.DevNull,
		"core.attributesFile=" + os.DevNull,
		"core.excludesFile=" + os.DevNull,
		"core.fsmonitor=false",
		"core.untrackedCache=false",
		"core.splitIndex=false",
		"core.autocrlf=false",
		"core.fileMode=false",
		"core.quotePath=false",
		"core.protectHFS=true",
		"core.protectNTFS=true",
		"core.logAllRefUpdates=false",
		"core.fsync=all",
		"core.fsyncMethod=fsync",
		"core.fsyncObjectFiles=true", // the same for git before 2.36; later ones warn, and warnings are not read
		"commit.gpgSign=false",
		"log.showSignature=false",
		"gc.auto=0",
		"maintenance.auto=false",
		"protocol.allow=never",
		"safe.directory=*",
	}
	if subcommand != "init" { // which would write it into the repository
		pairs = append(pairs, "core.sharedRepository=0600")
	}
	args := []string{"--no-pager"}
	for _, p := range pairs {
		args = append(args, "-c", p)
	}
	return args
}

// bareEnv is the environment of a git that has no repository: nothing is inherited but PATH.
func bareEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + os.DevNull,
		"XDG_CONFIG_HOME=" + os.DevNull,
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
	}
}

// readEnv is the environment of a git that must leave the repository as it is: there may be a writer.
func (r *repo) readEnv() []string { return append(r.env(), "GIT_OPTIONAL_LOCKS=0") }

// env is the environment of a git that works on one repository.
func (r *repo) env() []string {
	date := fmt.Sprintf("%d +0000", unixSeconds(r.clock()))
	return append(bareEnv(),
		"GIT_DIR="+r.gitDir,
		"GIT_WORK_TREE="+r.dir,
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		// A later git may choose other formats for a new repository.
		"GIT_DEFAULT_HASH=sha1",
		"GIT_DEFAULT_REF_FORMAT=files",
		"GIT_AUTHOR_NAME="+author, "GIT_AUTHOR_EMAIL="+email, "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME="+author, "GIT_COMMITTER_EMAIL="+email, "GIT_COMMITTER_DATE="+date,
	)
}

// unixSeconds is the date of a commit: git knows none before 1970.
func unixSeconds(t time.Time) int64 { return max(t.Unix(), 0) }
