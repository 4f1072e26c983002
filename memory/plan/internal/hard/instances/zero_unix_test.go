//go:build unix

package instances

import (
	"bufio"
	"errors"
	"testing"
)

// The whole file was read before the first line, so a file without an end filled the memory.
func TestLoad_AFileWithoutEndIsRefused(t *testing.T) {
	if _, err := Load("/dev/zero"); !errors.Is(err, bufio.ErrTooLong) {
		t.Error(err)
	}
}
