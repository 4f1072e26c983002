//go:build unix

package cmdline

import (
	"os"
	"path/filepath"
	"testing"
)

// A trace followed the link, and the statistics at the end of the run replaced the file to which it led.
func TestWritable_RefusesLinksToMissingFilesAndSecondNames(t *testing.T) {
	dir := t.TempDir()
	file, link, second := filepath.Join(dir, "a"), filepath.Join(dir, "link"), filepath.Join(dir, "second")
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := Writable(link, file); err == nil || err.Error() != "cannot write "+link+": it is a link to a missing file; allowed is a plain file" {
		t.Error(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Writable(link); err != nil {
		t.Error(err)
	}
	if err := os.Link(file, second); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{link, second} {
		if err := Writable(file, other); err == nil || err.Error() != "cannot write "+other+": it is the same file as "+file+"; name two" {
			t.Error(err)
		}
	}
}
