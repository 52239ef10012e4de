package fsx

import (
	"strings"

	"golang.org/x/sys/unix"
)

func statFS(path string) (FSInfo, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(path, &st)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return FSInfo{}, err
		}
	}
	info := describe(unix.ByteSliceToString(st.Fstypename[:]), st.Flags&unix.MNT_LOCAL != 0)
	info.FreeBytes = st.Bavail * uint64(st.Bsize)
	return info, nil
}

// describe goes by the mount flag rather than by a list of names, except for file systems in user
// space, which set the flag as they like.
func describe(name string, local bool) FSInfo {
	name = strings.ToLower(name)
	if strings.Contains(name, "fuse") {
		return FSInfo{Type: "fuse"}
	}
	return FSInfo{Type: name, Network: !local}
}
