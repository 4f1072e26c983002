//go:build !unix

package atomicfile

// syncFolder does nothing: Windows syncs no folder without rights that players lack, and js none at all.
func syncFolder(string) error { return nil }
