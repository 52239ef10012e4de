package survey

import (
	"io/fs"
	"syscall"
)

func keyOf(info fs.FileInfo) Key {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Key{}
	}
	return Key{Device: uint64(st.Dev), Inode: st.Ino, Changed: st.Ctimespec.Nano()}
}
