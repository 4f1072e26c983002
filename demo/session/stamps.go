package session

import (
	"runtime"
	"sync/atomic"

	"github.com/strata-go/strata/demo/ground"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/engine/stream/png"
)

// stampsPicture is what the sectors of a realm have in common.
type stampsPicture struct {
	pixels     []byte
	wide, high int
}

// stamps are those of the realm. Workers read them while they compose.
//
// Invariant: their pixels stay until no worker composes with them. So the stamps outlive every sector: they have a
// request handle of their own, which is closed when every worker has finished. When a streamer closes all handles at
// once, the stamps are released after the last worker has finished its rows.
type stamps struct {
	current atomic.Pointer[ground.Stamps]
	readers atomic.Int32 // workers that may read current
	kept    stream.Handle[stampsPicture]
	retry   retry
	palette [5]ground.Color // of the realm that was requested
}

// register adds the kind of the stamps' file.
func (st *stamps) register(s *stream.Streamer, workers int) error {
	decoders := make([]png.Decoder, workers) // each used by one worker
	return stream.Register(s, stream.Kind[stampsPicture]{
		Name: stampsKind, Stays: true,
		Decode: func(r *stream.Reader, heap *stream.Heap) (p stampsPicture, err error) {
			h, err := decoders[heap.Worker()].Decode(r, func(h png.Header) ([]byte, error) {
				p.pixels, err = heap.Bytes(h.Bytes())
				return p.pixels, err
			}, 1<<22)
			p.wide, p.high = h.Width, h.Height
			return p, err
		},
		Deliver: st.deliver,
		Release: func(string, *stampsPicture) { st.drop() },
	})
}

// deliver makes a picture the stamps of the realm. If it is none, the old stamps stay.
func (st *stamps) deliver(name string, p, old *stampsPicture) error {
	all, err := ground.NewStamps(name, p.pixels, p.wide, p.high, st.palette)
	if err != nil {
		return err
	}
	if old != nil { // its file has changed, and its block is freed
		st.drop()
	}
	st.current.Store(&all)
	return nil
}

// request requests the file of a realm. The realm waits for it.
func (st *stamps) request(s *stream.Streamer, sc *stream.Scope, name string, palette [5]ground.Color) {
	st.palette, st.retry = palette, retry{}
	st.kept = stream.Request[stampsPicture](s, name, stream.ETA(0))
	stream.Request[stampsPicture](sc, name, stream.ETA(0))
}

// ready reports whether there are stamps. If their file could not be read it is retried now and then.
func (st *stamps) ready() bool {
	if st.retry.due(st.kept.State()) {
		st.kept.Retry()
	}
	return st.current.Load() != nil
}

// acquire returns the stamps, or nil. The caller must call release in either case.
func (st *stamps) acquire() *ground.Stamps {
	st.readers.Add(1) // before the load: see drop
	return st.current.Load()
}

func (st *stamps) release() { st.readers.Add(-1) }

// drop takes the stamps from the workers. After it none begins with them. It waits for those that do: they are
// cancelled, or finish their sector within milliseconds, and wait for nothing themselves.
func (st *stamps) drop() {
	st.current.Store(nil)
	for st.readers.Load() > 0 {
		runtime.Gosched()
	}
}
