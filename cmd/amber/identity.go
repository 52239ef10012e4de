package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// identityFlags name what a scope is bound to.
type identityFlags struct {
	scope, project, user, workspace, session string
}

func (f *identityFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.scope, "scope", "", "session, user, project, workspace or global")
	f.addNames(cmd)
}

// addNames adds the flags without --scope, for verbs that only look.
func (f *identityFlags) addNames(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.project, "project", "", "the project (default from the git repository of the working directory)")
	fl.StringVar(&f.user, "user", "", "the user")
	fl.StringVar(&f.workspace, "workspace", "", "the workspace")
	fl.StringVar(&f.session, "session", "", "the session (default the active one)")
}

// named returns the identities that the flags name.
func (f identityFlags) named() amber.Identities {
	return amber.Identities{
		SessionID: amber.SessionID(f.session), UserID: f.user, ProjectID: f.project, WorkspaceID: f.workspace,
	}
}

// identities returns what is known here: what the flags say, the project of
// the working directory and the active session of the terminal.
func (a *app) identities(ctx context.Context, s *opened, f identityFlags) (amber.Identities, error) {
	ids := f.named()
	if ids.ProjectID == "" {
		dir, err := a.directory()
		if err != nil {
			return ids, &amber.Error{Op: "find working directory", Kind: amber.KindInternal, Err: err}
		}
		ids.ProjectID = projectOf(dir)
	}
	if ids.SessionID == "" {
		active, err := s.Store.Active.ActiveSession(ctx, amber.DefaultBinding)
		switch amber.KindOf(err) {
		case "":
			ids.SessionID = active.ID
		case amber.KindNotFound, amber.KindUnsupported:
		default:
			return ids, err
		}
	}
	return ids, nil
}

// maxGitConfig bounds what is read of a repository's configuration.
const maxGitConfig = 1 << 20

// projectOf names the project of a directory: owner/name of its git remote,
// else the folder name of the repository, "" outside one. It only reads; no
// git is run, so a hostile repository cannot make it run anything.
func projectOf(dir string) string {
	dir, ok := workTreeOf(dir)
	if !ok {
		return ""
	}
	name := remoteName(filepath.Join(gitCommonDir(filepath.Join(dir, ".git")), "config"))
	if name == "" {
		name = filepath.Base(dir)
	}
	if amber.CheckID("project id", name) != nil {
		return ""
	}
	return name
}

// workTreeOf returns the top of the git work tree that a directory is in.
func workTreeOf(dir string) (top string, ok bool) {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// gitCommonDir follows the .git file of a worktree or submodule to the folder
// that holds the configuration.
func gitCommonDir(git string) string {
	link, err := readSmall(git)
	target, ok := strings.CutPrefix(strings.TrimSpace(link), "gitdir: ")
	if err != nil || !ok {
		return git
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(git), target)
	}
	common, err := readSmall(filepath.Join(target, "commondir"))
	if err != nil {
		return target
	}
	common = strings.TrimSpace(common)
	if filepath.IsAbs(common) {
		return common
	}
	return filepath.Join(target, common)
}

func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	return string(b), err
}

// remoteName returns owner/name of the origin remote, or of the first remote
// where there is no origin.
func remoteName(config string) string {
	f, err := os.Open(config)
	if err != nil {
		return ""
	}
	defer f.Close()
	remote, first := "", ""
	lines := bufio.NewScanner(io.LimitReader(f, maxGitConfig))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			remote = ""
			if name, ok := strings.CutPrefix(line, `[remote "`); ok {
				remote = strings.TrimSuffix(name, `"]`)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if remote == "" || !ok || strings.TrimSpace(key) != "url" {
			continue
		}
		name := ownerAndName(strings.TrimSpace(value))
		if remote == "origin" && name != "" {
			return name
		}
		if first == "" {
			first = name
		}
	}
	return first
}

// ownerAndName takes the last two elements of a remote's address, whatever
// its form: https://host/owner/name.git, git@host:owner/name, /srv/owner/name.
func ownerAndName(remote string) string {
	remote = strings.Trim(remote, `"`)
	remote = strings.TrimSuffix(strings.TrimRight(remote, "/"), ".git")
	parts := strings.FieldsFunc(remote, func(r rune) bool { return r == '/' || r == ':' || r == '\\' })
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1]
}
