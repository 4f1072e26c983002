package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/memtest/testenv"
)

func TestWrite_IsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error { _, werr := io.WriteString(w, s); return errors.Join(werr, err) }
	}
	full := errors.New("the disk is full")
	for _, c := range []struct {
		write string
		err   error
		want  string
	}{{"half", full, ""}, {"one", nil, "one"}, {"half", full, "one"}, {"two", nil, "two"}} {
		if err := Write(path, text(c.write, c.err)); !errors.Is(err, c.err) {
			t.Errorf("%q: %v, want %v", c.write, err, c.err)
		}
		if data, _ := os.ReadFile(path); string(data) != c.want {
			t.Errorf("there is %q, want %q", data, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if err := Write(filepath.Join(dir, "none", "a"), text("", nil)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
}

// An error of another file that is in place said that this one is, and its temporary file stayed.
func TestWrite_UnsyncedOfAnotherFileIsAFailure(t *testing.T) {
	dir := t.TempDir()
	err := Write(filepath.Join(dir, "a.json"), func(io.Writer) error { return fmt.Errorf("b.json: %w", ErrUnsynced) })
	if err == nil || errors.Is(err, ErrUnsynced) || err.Error() != "b.json: "+ErrUnsynced.Error() {
		t.Errorf("the error is %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWrite_LeavesNothingIfItsFunctionDoesNotReturn(t *testing.T) {
	for name, leave := range map[string]func(){
		"Goexit": runtime.Goexit,
		"panic":  func() { panic("stop") },
	} {
		dir, thrown := t.TempDir(), make(chan any)
		go func() {
			defer func() { thrown <- recover() }()
			_ = Write(filepath.Join(dir, "a.json"), func(w io.Writer) error {
				_, err := io.WriteString(w, "half")
				leave()
				return err
			})
		}()
		if v := <-thrown; (v == "stop") != (name == "panic") {
			t.Errorf("%s: recovered %v", name, v)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", name, left, err)
		}
	}
}

// ended is the number of a process that has.
func ended(t *testing.T) int {
	t.Helper()
	cmd := testenv.Command(t, os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestSweep_TakesWhatNobodyWillFinishAndNothingElse(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("there are no processes")
	}
	dir, dead := t.TempDir(), ended(t)
	old := started.Add(-time.Minute)
	for _, c := range []struct {
		name string
		at   time.Time
		gone bool
	}{
		{fmt.Sprintf(".strata-%d-1.json", dead), time.Now(), true},
		{fmt.Sprintf(".strata-%d-2.png", os.Getpid()), old, true},
		{fmt.Sprintf(".strata-%d-3.png", os.Getpid()), time.Now(), false},
		{fmt.Sprintf(".strata-%d-4", os.Getppid()), old, false},
		{fmt.Sprintf(".strata-%d-5", os.Getppid()), time.Now().Add(-2 * forgotten), true},
		{".strata-notes", old, false}, {".strata-7x-1", old, false}, {fmt.Sprintf("strata-%d-1", dead), old, false},
		{fmt.Sprintf(".strata-%d", dead), old, false},
	} {
		path := filepath.Join(dir, c.name)
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, c.at, c.at)); err != nil {
			t.Fatal(err)
		}
		Sweep(dir)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) != c.gone {
			t.Errorf("%s of %v: %v", c.name, c.at, err)
		}
	}
	folder := filepath.Join(dir, fmt.Sprintf(".strata-%d-9", dead))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	Sweep(dir)
	Sweep(filepath.Join(dir, "none"))
	if _, err := os.Stat(folder); err != nil {
		t.Error("a folder was taken for a file:", err)
	}
}
