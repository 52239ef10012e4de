package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peer is another tool that copies an agent. It works on a folder that no
// process writes to. The measurement does not cover how the tool would copy a
// live one.
type peer struct {
	name     string
	programs []string
	// prepare makes a repository in dir; nil when there is nothing to make.
	prepare func(dir string) []command
	backup  func(dir, agent string, n int) command
	// restore brings the first backup back into out; said is what that backup
	// printed. nil when the tool only copies.
	restore func(dir, out string, said []byte) command
	// increments says that a second backup builds on the first.
	increments bool
}

// peers are the tools that are known. Those with a choice of chunks are told
// to use fixed ones, which is their best on databases.
func peers() []peer {
	return []peer{tarZstd(), restic(), kopia(), borg()}
}

// missing names the programs of a peer that are not installed.
func (p peer) missing() []string {
	var names []string
	for _, program := range p.programs {
		if _, err := exec.LookPath(program); err != nil {
			names = append(names, program)
		}
	}
	return names
}

// copyFolder is the unit: a buffered copy.
func copyFolder(from, to string) command {
	return command{program: "cp", args: []string{"-r", from, to}}
}

func tarZstd() peer {
	pipe := func(script string, args ...string) command {
		return command{program: "sh", args: append([]string{"-c", script, "sh"}, args...)}
	}
	return peer{
		name: "tar | zstd -3", programs: []string{"sh", "tar", "zstd"},
		backup: func(dir, agent string, n int) command {
			return pipe(`tar -cf - -C "$1" . | zstd -q -3 -o "$2"`, agent, filepath.Join(dir, fmt.Sprint(n, ".tar.zst")))
		},
		restore: func(dir, out string, _ []byte) command {
			return pipe(`zstd -q -dc "$1" | tar -xf - -C "$2"`, filepath.Join(dir, "1.tar.zst"), out)
		},
	}
}

func restic() peer {
	run := func(dir string, args ...string) command {
		return command{program: "restic", args: append(args, "--quiet"), env: []string{
			"RESTIC_REPOSITORY=" + filepath.Join(dir, "repo"), "RESTIC_PASSWORD=bench", "RESTIC_CACHE_DIR=" + filepath.Join(dir, "cache"),
		}}
	}
	return peer{
		name: "restic", programs: []string{"restic"}, increments: true,
		prepare: func(dir string) []command { return []command{run(dir, "init")} },
		backup:  func(dir, agent string, _ int) command { return run(dir, "backup", agent) },
		restore: func(dir, out string, _ []byte) command { return run(dir, "restore", "latest", "--target", out) },
	}
}

func kopia() peer {
	run := func(dir string, args ...string) command {
		return command{program: "kopia", args: args, env: []string{
			"KOPIA_PASSWORD=bench", "KOPIA_CONFIG_PATH=" + filepath.Join(dir, "config"), "KOPIA_LOG_DIR=" + filepath.Join(dir, "log"),
			"KOPIA_CACHE_DIRECTORY=" + filepath.Join(dir, "cache"), "KOPIA_CHECK_FOR_UPDATES=false",
		}}
	}
	return peer{
		name: "kopia, fixed chunks", programs: []string{"kopia"}, increments: true,
		prepare: func(dir string) []command {
			return []command{
				run(dir, "repository", "create", "filesystem", "--path", filepath.Join(dir, "repo"), "--object-splitter", "FIXED-1M"),
				run(dir, "policy", "set", "--global", "--compression", "zstd"),
			}
		},
		backup: func(dir, agent string, _ int) command { return run(dir, "snapshot", "create", "--json", agent) },
		restore: func(dir, out string, said []byte) command {
			var made struct {
				ID string `json:"id"`
			}
			check(json.Unmarshal(said, &made))
			return run(dir, "restore", made.ID, out)
		},
	}
}

func borg() peer {
	run := func(dir, in string, args ...string) command {
		return command{program: "borg", args: args, dir: in, env: []string{
			"BORG_REPO=" + filepath.Join(dir, "repo"), "BORG_BASE_DIR=" + dir, "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes",
		}}
	}
	return peer{
		name: "borg, fixed chunks", programs: []string{"borg"}, increments: true,
		prepare: func(dir string) []command { return []command{run(dir, "", "init", "--encryption", "none")} },
		backup: func(dir, agent string, n int) command {
			return run(dir, agent, "create", "--chunker-params", "fixed,1048576", "--compression", "zstd,3", fmt.Sprint("::s", n), ".")
		},
		restore: func(dir, out string, _ []byte) command { return run(dir, out, "extract", "::s1") },
	}
}

// peerRun is a peer with a repository of its own, for one round.
type peerRun struct {
	peer
	dir  string
	said []byte
}

// begin makes the repository.
func (p peer) begin(ctx context.Context, dir string) *peerRun {
	check(os.MkdirAll(dir, 0o700))
	if p.prepare != nil {
		for _, c := range p.prepare(dir) {
			get(c.runNow(ctx))
		}
	}
	return &peerRun{peer: p, dir: dir}
}

// copy makes the n-th backup and returns by how much the repository grew.
func (p *peerRun) copy(ctx context.Context, agent string, n int) (took cost, grown int64) {
	before, _ := folderSize(filepath.Join(p.dir, "repo"))
	took = get(p.backup(p.dir, agent, n).run(ctx))
	if n == 1 {
		p.said = took.stdout
	}
	after, _ := folderSize(filepath.Join(p.dir, "repo"))
	return took, after - before
}

// bring restores the first backup.
func (p *peerRun) bring(ctx context.Context) cost {
	out := filepath.Join(p.dir, "out")
	check(os.MkdirAll(out, 0o700))
	return get(p.restore(p.dir, out, p.said).run(ctx))
}
