//go:build !js

package shell_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/demo/shell"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// kills is how many processes are killed: -kills 1000 is the nightly's.
var kills = flag.Int("kills", 25, "how many processes TestKill kills")

// saverDir is set for the child that saves until it is killed.
const saverDir = "STRATA_SAVER_DIR"

// The names that the child saves. Each third save keeps the version before it aside.
const asideEach = 3

var savedNames = []string{"run1.strata", "settings.json", "runs.json"} // most kills come during the first

// slotBytes is the size of a small saved run, and fileMost is above it.
const (
	slotBytes = 200 << 10
	fileMost  = slotBytes + 1
)

// version is a file that differs from every other version and from a part of itself.
func version(name string, n int) ([]byte, error) {
	if name == "runs.json" {
		runs := make([]shell.Run, shell.BestRuns)
		for i := range runs {
			runs[i] = shell.Run{Score: int64(n), Realm: "TIDE", Seed: uint64(n)}
		}
		return shell.WriteRuns(runs)
	}
	if name == "run1.strata" { // a slot: the store does not look at what it has
		data := make([]byte, 0, slotBytes)
		for len(data) < slotBytes {
			data = binary.LittleEndian.AppendUint64(data, uint64(n)<<20+uint64(len(data)))
		}
		return data, nil
	}
	s := shell.DefaultSettings()
	s.Master = n % 11
	s.Keys = map[string][]string{}
	for i := range 40 {
		s.Keys[fmt.Sprintf("action %d", i)] = []string{strconv.Itoa(n)}
	}
	return shell.WriteSettings(s)
}

// TestKill_Child is the process that TestKill kills.
func TestKill_Child(t *testing.T) {
	dir := os.Getenv(saverDir)
	if dir == "" {
		return // it is run by TestKill alone
	}
	first, err := strconv.Atoi(os.Getenv(saverDir + "_FIRST"))
	if err != nil {
		t.Fatal(err)
	}
	files := shell.Files{Dir: dir}
	for n := first; ; n++ {
		for _, name := range savedNames {
			data, err := version(name, n)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("begin %s %d\n", name, n) // unbuffered: a kill loses no line
			if err := files.Save(name, data, n%asideEach == 0); err != nil {
				t.Fatal(err)
			}
			fmt.Printf("end %s %d\n", name, n)
		}
	}
}

// A process saves settings, best runs and a slot without a pause and is killed at a random moment. The next one finds
// of each the last version that was saved, or the one that was being saved, complete. So it is with the backups.
func TestKill_LeavesTheOldOrTheNewVersion(t *testing.T) {
	rng := rand.New(rand.NewPCG(174, 174))
	dir := filepath.Join(t.TempDir(), "strata")
	kept := map[string]history{}
	within := map[string]int{}
	for i := range *kills {
		log := killed(t, dir, i*100_000+1, time.Duration(rng.IntN(12_000))*time.Microsecond)
		for _, name := range savedNames {
			h := kept[name]
			if h.read(t, name, log); h.begun != h.ended {
				within[name]++
			}
			h.verify(t, dir, name)
			kept[name] = h
		}
		if t.Failed() {
			t.Fatalf("kill %d of %d: %q", i+1, *kills, log)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Fatalf("kill %d: after a load there are %v", i+1, left)
		}
	}
	t.Logf("%d kills, of them while a file was being saved: %v", *kills, within)
	if within["run1.strata"] == 0 {
		t.Error("no kill came while a slot was being saved")
	}
}

// killed runs a child until it has saved for a time, kills it and returns what it printed.
func killed(t *testing.T, dir string, first int, after time.Duration) (log []string) {
	t.Helper()
	cmd := testenv.Command(t, os.Args[0], "-test.run=^TestKill_Child$")
	cmd.Env = append(cmd.Environ(), saverDir+"="+dir, fmt.Sprintf("%s_FIRST=%d", saverDir, first))
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if log = append(log, lines.Text()); len(log) == 1 {
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() > 0 {
		t.Fatalf("the child ended by itself: %v, %q", err, log)
	}
	return log
}

// A history is what the lines of all children say about a file; 0 is no version.
type history struct {
	begun, ended int // versions; equal if no save was interrupted
	// What is found may be older: the version before begun, and the backups before and after its save.
	present      int
	backup, next int
}

func (h *history) read(t *testing.T, name string, log []string) {
	t.Helper()
	for _, line := range log {
		var what, of string
		var n int
		if _, err := fmt.Sscanf(line, "%s %s %d", &what, &of, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case of != name:
		case what == "begin":
			h.begun, h.next = n, h.backup
			if n%asideEach == 0 && h.present != 0 {
				h.next = h.present
			}
		default:
			h.ended, h.present, h.backup = n, n, h.next
		}
	}
}

// verify loads the file as the game does and settles which version of an interrupted save it is.
func (h *history) verify(t *testing.T, dir, name string) {
	t.Helper()
	f := shell.Files{Dir: dir}
	is := func(name string, data []byte, n int) bool {
		want, err := version(strings.TrimSuffix(name, ".bad"), n)
		return err == nil && n != 0 && string(want) == string(data)
	}
	data, err := f.Load(name, fileMost)
	switch {
	case is(name, data, h.begun):
		h.present, h.backup = h.begun, h.next
	case is(name, data, h.present), h.present == 0 && errors.Is(err, fs.ErrNotExist):
	default:
		t.Errorf("%s is %.100q, %v; wanted is version %d or %d", name, data, err, h.present, h.begun)
	}
	data, err = f.Load(name+".bad", fileMost)
	switch {
	case is(name, data, h.next):
		h.backup = h.next
	case h.present != h.begun && (is(name, data, h.backup) || h.backup == 0 && errors.Is(err, fs.ErrNotExist)):
	case h.next == 0 && errors.Is(err, fs.ErrNotExist):
	default:
		t.Errorf("%s.bad is %.100q, %v; wanted is version %d or %d", name, data, err, h.backup, h.next)
	}
	h.begun, h.ended, h.next = h.present, h.present, h.backup
}
