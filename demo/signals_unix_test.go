//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/gif"
	"image/png"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/session"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// kills is how many runs are killed: -kills 100 is the nightly's.
var kills = flag.Int("kills", 0, "how many runs TestSignals kills; 0: 5, and 12 if the long tests run")

// hangups makes a SIGHUP end the children of this test if this process ignores it, as under nohup. A child inherits
// that a signal is ignored, but not that it is caught.
func hangups(t *testing.T) {
	t.Helper()
	if !signal.Ignored(syscall.SIGHUP) {
		return
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	t.Cleanup(func() { signal.Ignore(syscall.SIGHUP) })
}

// A kill at any moment ends the run in order, or before it began: what was asked for is there whole or
// not at all, and nothing else is. One that cannot be heeded (SIGKILL) may leave an unfinished file, which the
// next run takes away.
func TestSignals_RandomKillsLeaveNoStrayFileAndNoHalfWrittenOne(t *testing.T) {
	if *kills == 0 {
		testenv.Long(t)
		*kills = 12
	}
	exe := program(t)
	hangups(t)
	rng := rand.New(rand.NewPCG(7, 7)) // of a fixed seed: what fails can be looked for
	runs := [][]string{
		{"-ticks", "10000000", "-hash", "-every", "50", "-stats", "out.json"},
		{"-ticks", "1500", "-every", "1", "-stats", "out.json"}, // megabytes, which take a while to be written
		{"-ticks", "2000", "-every", "1", "-books", "-stats", "out.csv"},
		{"-ticks", "10000000", "-tour", "-slow", "50,5", "-resident", "8", "-stats", "out.json"},
		{"-ticks", "200", "-compare", "-rounds", "1", "-svg", "out.svg"},
	}
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL, syscall.SIGHUP, syscall.SIGKILL, syscall.SIGKILL}
	written, unfinished := 0, 0
	span := 4 * shortest(t, exe) // of the moments of the kills
	if testenv.Full() {
		span = max(span, time.Second)
	}
	kill := func(i int) {
		dir := t.TempDir()
		sig, args := signals[i%len(signals)], runs[i%len(runs)]
		if i%len(signals) == 4 {
			args = runs[1]
		}
		cmd := testenv.Command(t, exe, append([]string{"-headless", "-seed", "7"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+t.TempDir())
		testenv.Group(cmd)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%len(signals) == 4 {
			untilItWrites(t, dir)
		} else {
			time.Sleep(time.Duration(rng.Float64() * float64(span)))
		}
		to := cmd.Process.Pid
		if sig == syscall.SIGKILL {
			to = -to // what it has started as well
		}
		if err := syscall.Kill(to, sig); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		left := inFolder(t, dir)
		what := fmt.Sprintf("kill %d: %v of %v: %v, left %v\n%s%s", i, sig, args, err, left, &out, &errs)
		if hidden := strings.HasPrefix(strings.Join(left, " "), ".strata-"); hidden {
			if unfinished++; sig != syscall.SIGKILL {
				t.Error(what)
			}
			next := testenv.Command(t, exe, "-headless", "-ticks", "1", "-stats", "next.csv")
			if next.Dir = dir; next.Run() != nil {
				t.Errorf("the next run fails: %s", what)
			}
			if err := os.Remove(filepath.Join(dir, "next.csv")); err != nil {
				t.Error(err)
			}
			left = inFolder(t, dir)
		}
		if len(left) > 1 || len(left) == 1 && left[0] != args[len(args)-1] {
			t.Error(what)
		}
		for _, name := range left {
			if complete(filepath.Join(dir, name)) != nil {
				t.Errorf("%s: %v", what, complete(filepath.Join(dir, name)))
			}
			written++
		}
		heeded := strings.Contains(errs.String(), "the run ends here")
		if heeded && len(left) == 0 && args[2] != "-compare" || err == nil && len(left) == 0 {
			t.Errorf("not what was asked for: %s", what)
		}
	}
	for i := range *kills {
		kill(i)
	}
	for range 30 { // a busy machine may let a run finish its file before the signal is sent
		if unfinished > 0 {
			break
		}
		kill(4)
	}
	t.Logf("%d kills: %d runs had written, %d were killed while they wrote", *kills, written, unfinished)
	if written < *kills/5 || unfinished == 0 {
		t.Errorf("of %d runs %d had written, and %d did: that says nothing", *kills, written, unfinished)
	}
}

// shortest returns how long a run of one tick takes, which says how busy the machine is.
func shortest(t *testing.T, exe string) time.Duration {
	t.Helper()
	began := time.Now()
	if out, err := testenv.Command(t, exe, "-headless", "-ticks", "1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return time.Since(began)
}

// untilItWrites returns in the middle of the writing of a file in dir.
func untilItWrites(t *testing.T, dir string) {
	t.Helper()
	testenv.Until(t, "the run writes", 100*time.Microsecond, func() bool {
		return slices.ContainsFunc(inFolder(t, dir), func(name string) bool {
			info, err := os.Stat(filepath.Join(dir, name))
			return err == nil && info.Size() > 0
		})
	})
}

func inFolder(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// complete says what is wrong with a file that the game has written.
func complete(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch filepath.Ext(path) {
	case ".csv":
		var rows [][]string
		rows, err = csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err == nil && (len(rows) == 0 || !bytes.HasSuffix(data, []byte("\n"))) {
			err = errors.New("it has no end")
		}
	case ".svg":
		for d := xml.NewDecoder(bytes.NewReader(data)); err == nil; {
			_, err = d.Token()
		}
		if err == io.EOF {
			err = nil
		}
	case ".gif":
		_, err = gif.DecodeAll(bytes.NewReader(data))
	case ".png":
		_, err = png.Decode(bytes.NewReader(data))
	default:
		var any map[string]any
		err = json.Unmarshal(data, &any)
	}
	return err
}

func TestSignals_EndARunInAWindow(t *testing.T) {
	needDisplay(t)
	exe := program(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	var errs bytes.Buffer
	run := func(after time.Duration) error {
		cmd := testenv.Command(t, exe, "-autopilot", "-config", "none", "-size", "320x180", "-stats", path)
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		return cmd.Wait()
	}
	err := run(3 * time.Second)
	// On a busy machine the program may not have begun to listen to signals.
	for after := 6 * time.Second; err != nil && err.Error() == "signal: terminated" && time.Now().Add(2*after).Before(testenv.Deadline(t)); after *= 2 {
		err = run(after)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "out.json" {
		t.Errorf("%v, %v", entries, err)
	}
}

// realmless has no files of realms, and fails if one is opened.
type realmless struct{ testing.TB }

func (r realmless) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, "realms/") {
		r.Errorf("after the signal %s is opened", name)
		return nil, fs.ErrNotExist
	}
	return assets.FS().Open(name)
}

// Both play their ticks in one call. A realm may load slowly.
func TestSignals_SynctestAndRollbackEnd(t *testing.T) {
	for _, how := range []string{"-synctest=5", "-rollback"} {
		o, err := parse([]string{"-headless", how, "-ticks=1000000000"}, io.Discard, assets.FS())
		if err != nil {
			t.Fatal(err)
		}
		o.stderr, o.dir = io.Discard, realmless{t}
		o.stopped.Store(true)
		var out bytes.Buffer
		if how == "-rollback" {
			if err := o.rollback(&out); !errors.Is(err, errStopped) || out.Len() > 0 {
				t.Errorf("%v, %s", err, &out)
			}
			continue
		}
		if err := o.synctest(&out); err != nil || !strings.Contains(out.String(), ": 0 ticks were played twice") {
			t.Errorf("%v, %s", err, &out)
		}
	}
}

// A later realm loads in the call that plays the ticks.
func TestSignals_SynctestEndsWhileARealmLoads(t *testing.T) {
	o, err := parse([]string{"-headless", "-synctest=5"}, io.Discard, assets.FS())
	if err != nil {
		t.Fatal(err)
	}
	o.stderr, o.dir = io.Discard, realmless{t}
	cfg := o.session()
	o.heeding(&cfg)
	s, err := session.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	o.stopped.Store(true)
	if _, err := s.Synctest(1, 1); !errors.Is(err, errStopped) {
		t.Errorf("%v; want %v", err, errStopped)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// -compare ends its run of the moment with itself.
func TestSignals_AComparisonThatIsStoppedLeavesNothing(t *testing.T) {
	testenv.Long(t)
	temp := t.TempDir()
	cmd := testenv.Command(t, program(t), "-compare", "-ticks", "1000000")
	cmd.Env = append(cmd.Environ(), "TMPDIR="+temp)
	var errs bytes.Buffer
	cmd.Stderr = &errs // a run that lived on would hold it open, and Wait with it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testenv.Until(t, "the comparison has begun", 10*time.Millisecond, func() bool { return len(inFolder(t, temp)) > 0 })
	time.Sleep(200 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(errs.String(), "stopped") {
		t.Errorf("%v, %s", err, &errs)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
