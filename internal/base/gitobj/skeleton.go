package gitobj

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// skeleton is a repository without objects and refs.
type skeleton struct {
	head   string // the content of HEAD
	oidLen int    // 40 for SHA-1, 64 for SHA-256
	bare   bool
}

// writeSkeleton makes a repository of a folder that is empty or does not exist. Nothing is synced.
func writeSkeleton(fsys fsx.FS, gitDir string, s skeleton) error {
	for _, dir := range []string{".", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"} {
		err := fsys.Mkdir(filepath.Join(gitDir, filepath.FromSlash(dir)), dirPerm)
		if err != nil && (dir != "." || !errors.Is(err, fs.ErrExist)) {
			return err
		}
	}
	if err := writeNew(fsys, filepath.Join(gitDir, "config"), []byte(s.config())); err != nil {
		return err
	}
	return writeNew(fsys, filepath.Join(gitDir, "HEAD"), []byte(s.head))
}

// Init makes a repository whose branch is main, durably. It completes one that was begun, keeps what is there, and may be repeated.
func Init(fsys fsx.FS, gitDir string) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := fsx.MkdirAll(fsys, filepath.Join(gitDir, filepath.FromSlash(dir)), dirPerm); err != nil {
			return err
		}
	}
	// HEAD makes it a repository.
	for _, file := range [][2]string{{"config", skeleton{oidLen: len(ZeroOID)}.config()}, {"HEAD", HeadContent}} {
		path := filepath.Join(gitDir, file[0])
		if info, err := fsys.Lstat(path); err == nil && info.Size() > 0 { // a power cut can leave an empty one
			continue
		}
		if err := fsx.Replace(fsys, path, filePerm, []byte(file[1])); err != nil {
			return err
		}
	}
	return nil
}

// config is what git init writes on this system.
func (s skeleton) config() string {
	var b strings.Builder
	line := func(key string, yes bool) {
		b.WriteString("\t" + key + " = " + map[bool]string{true: "true", false: "false"}[yes] + "\n")
	}
	b.WriteString("[core]\n\trepositoryformatversion = " + map[bool]string{true: "1", false: "0"}[s.oidLen == 64] + "\n")
	line("filemode", runtime.GOOS != "windows")
	line("bare", s.bare)
	if !s.bare {
		line("logallrefupdates", true)
	}
	switch runtime.GOOS {
	case "windows":
		line("symlinks", false)
		line("ignorecase", true)
	case "darwin":
		line("ignorecase", true)
		line("precomposeunicode", true)
	}
	if s.oidLen == 64 {
		b.WriteString("[extensions]\n\tobjectformat = sha256\n")
	}
	return b.String()
}

// writeNew writes a file that is not there. Nothing is synced.
func writeNew(fsys fsx.FS, path string, content []byte) error {
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
