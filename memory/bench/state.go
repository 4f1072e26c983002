package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/strata-go/strata/engine/abtest/settle"
	"github.com/strata-go/strata/engine/atomicfile"
)

// A state is the file of -state: what was measured so far, and by what.
type state struct {
	Key     string // machine and options; results of another key are refused
	Results []result
}

// key names what results must have in common to be compared: machine, options and sources.
func (o options) key() string {
	return fmt.Sprintf("%s; %d programs, %d rounds, check %t; commit %s", settle.Machine(), o.placements, o.rounds, o.check, o.sources)
}

// sources names the commit of the repository around a folder, and what was changed in its programs or added to them
// since.
func sources(dir string) string {
	commit, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	s := strings.TrimSpace(string(commit))
	programs := func(args ...string) []byte {
		out, listErr := exec.Command("git", append(append([]string{"-C", dir}, args...), "--", ":/*.go", ":/*.c", ":/*.h", ":/*.mod")...).Output()
		err = errors.Join(err, listErr)
		return out
	}
	changes := programs("diff", "HEAD")
	for name := range strings.SplitSeq(string(programs("ls-files", "-z", "--others", "--exclude-standard")), "\x00") {
		if name != "" {
			text, readErr := os.ReadFile(filepath.Join(dir, name))
			changes, err = fmt.Appendf(changes, "%s\x00%s\x00", name, text), errors.Join(err, readErr)
		}
	}
	if err != nil || len(changes) > 0 {
		s += fmt.Sprintf(" with changes %08x", crc32.ChecksumIEEE(changes))
	}
	return s
}

// earlier returns the results that the state file has. A file that does not exist has none.
func (o options) earlier() ([]result, error) {
	if o.state == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.state)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var s state
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("-state: %w", err)
	}
	if s.Key != o.key() {
		return nil, fmt.Errorf("-state: %s is of %q, and this run of %q: name another file", o.state, s.Key, o.key())
	}
	return s.Results, nil
}

// keep writes the results into the state file, which is complete at any moment.
func (o options) keep(results []result) error {
	if o.state == "" {
		return nil
	}
	text, err := json.Marshal(state{o.key(), results})
	if err != nil {
		return err
	}
	return atomicfile.Write(o.state, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// runOf says where the figures of a test come from.
func (b *bench) runOf(t test) string {
	return fmt.Sprintf("%s; %d programs of each Go side, %d rounds", settle.Machine(), b.o.placements, b.roundsOf(t))
}
