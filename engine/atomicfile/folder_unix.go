//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder syncs a folder. A file system that cannot (EINVAL, ENOTSUP) is no failure, and neither is a
// folder that may be written and not read (EACCES when it is opened).
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, syscall.EACCES) {
			return nil
		}
		return err
	}
	err = f.Sync()
	_ = f.Close() // it was only read
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
