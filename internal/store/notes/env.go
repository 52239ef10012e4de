package notes

import (
	"fmt"

	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

const branch = gitobj.MainBranch

// readEnv is the environment of a git that must leave the repository as it is: there may be a writer.
func (r *repo) readEnv() []string { return append(r.env(), "GIT_OPTIONAL_LOCKS=0") }

// env is the environment of a git that works on one repository.
func (r *repo) env() []string {
	date := fmt.Sprintf("%d +0000", gitobj.UnixSeconds(r.clock()))
	return append(gitrun.BareEnv(),
		"GIT_DIR="+r.gitDir,
		"GIT_WORK_TREE="+r.dir,
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		// A later git may choose other formats for a new repository.
		"GIT_DEFAULT_HASH=sha1",
		"GIT_DEFAULT_REF_FORMAT=files",
		"GIT_AUTHOR_NAME="+gitobj.Author, "GIT_AUTHOR_EMAIL="+gitobj.Email, "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME="+gitobj.Author, "GIT_COMMITTER_EMAIL="+gitobj.Email, "GIT_COMMITTER_DATE="+date,
	)
}
