package fsx

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Magic numbers that are not in the kernel's magic.h; each from the source of its file system.
const (
	beegfsMagic = 0x19830326
	gfs2Magic   = 0x01161970
	gpfsMagic   = 0x47504653
	lustreMagic = 0x0bd00bd0
	ntfs3Magic  = 0x7366746e
	vboxsfMagic = 0x786f4256
	zfsMagic    = 0x2fc12fc1
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
	// The field types differ between architectures, hence the conversions; the magic number may be sign-extended.
	info := describe(uint32(st.Type))
	unit := uint64(st.Frsize)
	if unit == 0 {
		unit = uint64(st.Bsize)
	}
	info.FreeBytes = st.Bavail * unit
	info.ReadOnly = uint64(st.Flags)&unix.ST_RDONLY != 0
	return info, nil
}

// describe names the file system with the given magic number. ext2, ext3 and ext4 share one.
func describe(magic uint32) FSInfo {
	if name := networkName(magic); name != "" {
		return FSInfo{Type: name, Network: true}
	}
	if name := localName(magic); name != "" {
		return FSInfo{Type: name}
	}
	return FSInfo{Type: fmt.Sprintf("0x%x", magic)}
}

func networkName(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC:
		return "smb"
	case unix.CIFS_SUPER_MAGIC:
		return "cifs"
	case unix.SMB2_SUPER_MAGIC:
		return "smb2"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.NCP_SUPER_MAGIC:
		return "ncp"
	case unix.OCFS2_SUPER_MAGIC:
		return "ocfs2"
	case gfs2Magic:
		return "gfs2"
	case gpfsMagic:
		return "gpfs"
	case lustreMagic:
		return "lustre"
	case beegfsMagic:
		return "beegfs"
	case vboxsfMagic:
		return "vboxsf"
	}
	return ""
}

func localName(magic uint32) string {
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.BCACHEFS_SUPER_MAGIC:
		return "bcachefs"
	case zfsMagic:
		return "zfs"
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case unix.ECRYPTFS_SUPER_MAGIC:
		return "ecryptfs"
	case unix.EXFAT_SUPER_MAGIC:
		return "exfat"
	case unix.MSDOS_SUPER_MAGIC:
		return "vfat"
	case ntfs3Magic:
		return "ntfs"
	case unix.REISERFS_SUPER_MAGIC:
		return "reiserfs"
	case unix.NILFS_SUPER_MAGIC:
		return "nilfs2"
	case unix.SQUASHFS_MAGIC:
		return "squashfs"
	case unix.EROFS_SUPER_MAGIC_V1:
		return "erofs"
	case unix.ISOFS_SUPER_MAGIC:
		return "iso9660"
	case unix.PROC_SUPER_MAGIC:
		return "proc"
	case unix.SYSFS_MAGIC:
		return "sysfs"
	}
	return ""
}
