package session

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/engine"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory/memtest/testenv"
)

// A stuck file system never returns from opening one picture.
type stuck struct {
	fs.FS
	entered, pass chan struct{}
}

func (s stuck) Open(name string) (fs.File, error) {
	if name == "art/player.png" {
		close(s.entered)
		<-s.pass
		return nil, fs.ErrNotExist
	}
	return s.FS.Open(name)
}

func TestSession_CloseEndsThoughAFileHangs(t *testing.T) {
	testenv.Long(t)
	f := stuck{assets.FS(), make(chan struct{}), make(chan struct{})}
	s, err := New(Config{Memory: small, FS: f, Autopilot: true})
	if err != nil {
		t.Fatal(err)
	}
	for hung := false; !hung; {
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-f.entered:
			hung = true
		case <-time.After(time.Millisecond):
		}
	}
	done := make(chan error)
	go func() { done <- s.Close() }()
	select {
	case err := <-done:
		if !errors.Is(err, stream.ErrHangs) || !strings.Contains(err.Error(), "art/player.png") {
			t.Error(err)
		}
	case <-time.After(time.Until(testenv.Deadline(t))):
		t.Fatal("Close does not end")
	}
	close(f.pass) // the goroutine ends, and touches nothing of what is unmapped by now
	time.Sleep(20 * time.Millisecond)
}

func TestSession_PatienceSaysHowLongAFileMayTake(t *testing.T) {
	f := stuck{assets.FS(), make(chan struct{}), make(chan struct{})}
	told := make(chan error, 100)
	s, err := New(Config{Memory: small, FS: f, Autopilot: true, Patience: 50 * time.Millisecond, Log: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	for end := testenv.Deadline(t); len(told) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := s.Frame(engine.Input{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(told) == 0 {
		t.Error("the file is still waited for")
	} else if err := <-told; !errors.Is(err, stream.ErrHangs) {
		t.Error(err)
	}
	if err := s.Close(); !errors.Is(err, stream.ErrHangs) {
		t.Errorf("Close says %v", err)
	}
	close(f.pass)
	time.Sleep(20 * time.Millisecond)
}
