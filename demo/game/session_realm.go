package game

import (
	"fmt"
	"io"

	"github.com/strata-go/strata/demo/realm"
	"github.com/strata-go/strata/engine/stream"
)

// A realmFile is a file that the rules are made of. It lies in the Go heap until the realm is built: what the rules read
// must not depend on what else a worker has in its heap.
type realmFile struct{ data []byte }

// realmFileMost is more than any of them has.
const realmFileMost = 1 << 20

var realmFiles = stream.Kind[realmFile]{Name: "realm", Stays: true, Decode: func(r *stream.Reader, _ *stream.Heap) (realmFile, error) {
	if r.Size() > realmFileMost {
		return realmFile{}, fmt.Errorf("%d bytes; allowed are %d", r.Size(), realmFileMost)
	}
	data := make([]byte, r.Size())
	_, err := io.ReadFull(r, data)
	return realmFile{data}, err
}}

// found begins to build the realm of a level in the manager's, if its files were found.
func (s *Session) found(name string) (*realm.Building, error) {
	var data [2][]byte
	for i, t := range s.walls {
		f, ok := t.Get()
		if !ok {
			return nil, t.Err()
		}
		data[i] = f.data
		t.Close()
	}
	return realm.Open(s.Game.store.level(), name, data[0], data[1], breathe)
}

// realm returns the realm of a level, which is built. Without files that can be read, or without room, there is bare
// ground, and Log is told why.
func (s *Session) realm(name string) *realm.Realm {
	r, err := (*realm.Realm)(nil), s.unbuilt
	if s.build != nil {
		r, err = s.build.Wait()
		s.build = nil
	}
	if err == nil {
		return r
	}
	if s.cfg.Log != nil {
		s.cfg.Log(fmt.Errorf("%w; the ground is bare", err))
	}
	s.Game.Lost.Walls++
	return realm.Bare(realm.Unknown(name))
}
