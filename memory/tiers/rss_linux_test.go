package tiers

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRSS_IsTheSecondFieldInPages(t *testing.T) {
	page := uint64(os.Getpagesize())
	for text, want := range map[string]uint64{
		"100 25 3 4 5 6 7\n": 25 * page, "1 1234567890 9\n": 1234567890 * page, "7 0 1\n": 0, "": 0, "12": 0,
	} {
		name := filepath.Join(t.TempDir(), "statm")
		must(t, os.WriteFile(name, []byte(text), 0o600))
		f, err := os.Open(name)
		must(t, err)
		r := rssReader{file: f, page: page}
		if got := r.read(); got != want {
			t.Errorf("%q: %d bytes, want %d", text, got, want)
		}
		r.close()
		r.close()
		if r.file != nil || r.read() != 0 {
			t.Error("a closed reader reads")
		}
	}
	var r rssReader
	r.open()
	defer r.close()
	if got := r.read(); got < 1<<20 || got%page != 0 {
		t.Errorf("this process has %d resident bytes", got)
	}
}
