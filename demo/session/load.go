package session

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/demo/realm/manifest"
	"github.com/strata-go/strata/engine/stream"
)

// A realmFile is a file that the rules are made of. It lies in the Go heap until the realm is built: what the rules
// read must not depend on what else a worker has in its heap.
type realmFile struct{ data []byte }

// realmFileMost is above the size of any of them.
const realmFileMost = 1 << 20

var realmFiles = stream.Kind[realmFile]{Name: "realm", Stays: true, Decode: func(r *stream.Reader, _ *stream.Heap) (realmFile, error) {
	if r.Size() > realmFileMost {
		return realmFile{}, fmt.Errorf("%d bytes; allowed are %d", r.Size(), realmFileMost)
	}
	data := make([]byte, r.Size())
	_, err := io.ReadFull(r, data)
	return realmFile{data}, err
}}

// loading is the realm that loads.
type loading struct {
	files [2]stream.Handle[realmFile] // description, walls
	build *realm.Building             // until the game begins
	err   error                       // why there is no build
}

// open begins to build a realm, if its files were read.
func (l *loading) open(s *Session, name string) {
	var data [2][]byte
	l.build, l.err = nil, nil
	for i, t := range l.files {
		f, ok := t.Get()
		if !ok && l.err == nil {
			l.err = t.Err()
		}
		data[i] = f.data
		t.Close()
	}
	if l.err != nil {
		return
	}
	l.build, l.err = realm.Open(s.realmMemory(), name, data[0], data[1], breathe)
}

// discard waits for the building goroutine and drops its realm.
func (l *loading) discard() {
	if l.build != nil {
		_, _ = l.build.Wait()
		l.build = nil
	}
}

// take returns the realm. If its files cannot be read, or if there is no space, the ground is bare and
// Log is called with the reason.
func (l *loading) take(s *Session, m *manifest.File) *realm.Realm {
	r, err := (*realm.Realm)(nil), l.err
	if l.build != nil {
		r, err = l.build.Wait()
		l.build = nil
	}
	if err == nil {
		return r
	}
	s.cfg.Log(fmt.Errorf("%w; the ground is bare", err))
	s.Game.Lost.Walls++
	info := realm.Unknown(m.Name)
	info.Title = m.Title
	return realm.Bare(info)
}

// UploadBytes is the number of bytes of pictures that a frame uploads at most, unless a single picture is larger. It is
// enough for a sector of the ground with its props.
const UploadBytes = ground.Bytes + 1<<10

// newStream starts the workers and registers the kinds of files.
func (s *Session) newStream() (*stream.Streamer, error) {
	st, err := stream.New(stream.Config{
		FS: s.files(), Patience: s.cfg.Patience, Workers: s.Mem.Workers() - 1, // the last is the game's
		Heap:   s.workerHeap,
		Free:   s.freeBlock,
		Drain:  s.drain,
		Watch:  s.cfg.Watch,
		Upload: stream.Budget{Bytes: UploadBytes, Time: 2 * time.Millisecond},
	})
	if err != nil {
		return nil, err
	}
	pictures := stream.Pictures(func(name string, p stream.Picture) error {
		return s.cfg.Sink(s.Flow.Level().AssetOf(name), p)
	}, nil)
	err = errors.Join(stream.Register(st, pictures), stream.Register(st, stream.Parsed(manifestKind, manifest.Parse)), stream.Register(st, realmFiles))
	if err == nil {
		s.Ground, err = newGround(st, s.Mem, s.cfg.View, s.cfg.GroundBytes)
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// request requests the files of a realm; in its manifest priority 0 comes first.
func (s *Session) request(sc *stream.Scope, m *manifest.File) error {
	for i, name := range realm.Files(m.Name) {
		s.loading.files[i] = stream.Request[realmFile](sc, name, stream.ETA(-0.5))
	}
	s.Ground.request(s.Stream, sc, m)
	for _, a := range m.Assets {
		stream.Request[stream.Picture](sc, a.File, stream.ETA(float32(a.Priority)))
	}
	return nil
}

// enter begins a realm. Frames continue while it is built.
func (s *Session) enter(m *manifest.File) error {
	if !s.Mem.Inspect().InLevel() {
		if err := s.Mem.BeginLevel(); err != nil {
			return err
		}
		if s.loading.open(s, m.Name); s.loading.err == nil {
			return stream.ErrMore
		}
	} else if b := s.loading.build; b != nil && !b.Done() {
		return stream.ErrMore
	}
	if err := s.Game.Begin(m, s.loading.take(s, m)); err != nil {
		return err
	}
	about, resumed := s.resume()
	s.settling = 1
	if s.Past.begin(); resumed {
		s.Past.resume(about.Charges, about.Rewound)
	}
	s.objects.begin(s.Game.Ticks)
	return nil
}

// leave ends a realm that has begun; one that never finished loading has nothing to end.
func (s *Session) leave() error {
	if s.cfg.Left != nil {
		s.cfg.Left()
	}
	s.Ground.leave()
	if !s.Mem.Inspect().InLevel() {
		return nil
	}
	s.loading.discard()
	s.objects.end(s.Game.Ticks)
	if err := s.Game.End(); err != nil {
		return err
	}
	for _, l := range s.Game.Leaks() {
		s.cfg.Log(fmt.Errorf("realm %s leaks: %s", s.Game.Manifest.Name, l))
	}
	leaks, err := s.Mem.EndLevel()
	s.Leaks = append(s.Leaks, leaks)
	return err
}

// report calls Log with the files that have failed since the last call.
func (s *Session) report() {
	failed := s.Stream.Stats().Failures
	if failed == s.failed {
		return
	}
	kept := s.Stream.Errors() // the newest, as many as the streamer keeps
	for _, err := range kept[len(kept)-min(len(kept), int(failed-s.failed)):] {
		if failed, ok := err.(*stream.LoadError); ok && failed.Kind == realmFiles.Name {
			continue // loading.take reports it
		}
		if s.Ground.failures.isNew(err) {
			s.cfg.Log(err)
		}
	}
	s.failed = failed
}
