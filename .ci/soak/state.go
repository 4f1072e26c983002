package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/strata-go/strata/engine/atomicfile"
)

// A state is what a run has reached. It is kept in a file, so that the next run continues there. Each seed and length
// has its own file.
type state struct {
	path     string
	Seed     uint64               `json:"seed"`
	Ops      int                  `json:"ops"`
	Segment  int                  `json:"segment_ops"`
	Families map[string]*progress `json:"families"`
}

// progress is what was reached of a subject.
type progress struct {
	Segments int           `json:"segments"` // played from the first, without a failure
	Ops      int           `json:"ops"`
	Took     time.Duration `json:"nanoseconds"`
	Failed   string        `json:"failed,omitempty"` // the flags that repeat the failure of the next segment
}

// loadState reads the state from dir, or makes a new one. Without a dir nothing is kept.
func loadState(dir string, seed uint64, ops, segment int) (*state, error) {
	st := &state{Seed: seed, Ops: ops, Segment: segment, Families: map[string]*progress{}}
	if dir == "" {
		return st, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	st.path = filepath.Join(dir, fmt.Sprintf("soak-%d-%d-%d.json", seed, ops, segment))
	text, err := os.ReadFile(st.path)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, st)
	if err == nil && (st.Seed != seed || st.Ops != ops || st.Segment != segment || st.Families == nil) {
		err = fmt.Errorf("it is the state of -seed %d -ops %d -segment %d", st.Seed, st.Ops, st.Segment)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it to begin again", st.path, err)
	}
	return st, nil
}

// of returns the progress of a subject.
func (st *state) of(name string) *progress {
	p := st.Families[name]
	if p == nil {
		p = &progress{}
		st.Families[name] = p
	}
	return p
}

// save writes the state as an atomic write, so that a run which is killed leaves the old one or the new one. So do two
// runs with one folder.
func (st *state) save() error {
	if st.path == "" {
		return nil
	}
	text, err := json.MarshalIndent(st, "", "\t")
	if err != nil {
		return err
	}
	return atomicfile.Write(st.path, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
}
