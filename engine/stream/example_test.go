package stream_test

import (
	"errors"
	"fmt"
	"testing/fstest"
	"time"
	"unsafe"

	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
)

// newStreamer is what every example begins with: one worker over an arena, which is reset as a
// whole. A game gives each worker its tiers.Worker, and its manager's Free.
func newStreamer(files fstest.MapFS) (*stream.Streamer, *arena.Growing) {
	heap, err := arena.NewGrowing(nil, arena.GrowingConfig{})
	if err != nil {
		panic(err)
	}
	s, err := stream.New(stream.Config{
		FS: files, Workers: 1,
		Heap: func(int) memory.Allocator { return heap },
		Free: func(unsafe.Pointer, uintptr) {},
	})
	if err != nil {
		panic(err)
	}
	return s, heap
}

// A file through a worker and back. A game calls Poll once a frame and does not wait.
func Example() {
	s, heap := newStreamer(fstest.MapFS{"motto.txt": {Data: []byte("layer by layer")}})
	if err := stream.Register(s, stream.Files()); err != nil {
		fmt.Println(err)
		return
	}
	motto := stream.Request[stream.File](s, "motto.txt", stream.ETA(0.5))
	wrong := stream.Request[stream.File](s, "wrong.txt", stream.ETA(2))
	for motto.State() != stream.Loaded || wrong.State() != stream.Failed {
		s.Wait()
		s.Poll()
	}
	if f, ok := motto.Get(); ok {
		fmt.Printf("%s\n", f.Data)
	}
	fmt.Println(wrong.Err())
	motto.Close()
	if err := errors.Join(s.Close(), heap.Close()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// layer by layer
	// stream: file "wrong.txt": reading: file does not exist
}

// A kind of the game's own: a tune whose samples lie in a block of the worker's heap, and are
// handed to the mixer in slices of one a frame.
func ExampleRegister() {
	type tune struct {
		samples []byte
		mixed   int
	}
	s, heap := newStreamer(fstest.MapFS{"theme.raw": {Data: []byte("la la la")}})
	err := stream.Register(s, stream.Kind[tune]{
		Name: "tune", Stays: true,
		Decode: func(r *stream.Reader, heap *stream.Heap) (tune, error) {
			samples, err := stream.ReadAll(r, heap)
			return tune{samples: samples}, err
		},
		Deliver: func(name string, t, _ *tune) error {
			n := min(3, len(t.samples)-t.mixed)
			fmt.Printf("%s: %q\n", name, t.samples[t.mixed:t.mixed+n])
			if t.mixed += n; t.mixed < len(t.samples) {
				return stream.ErrMore
			}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	level := s.NewScope("level")
	theme := stream.Request[tune](level, "theme.raw", stream.ETA(0))
	for theme.State() != stream.Loaded {
		time.Sleep(time.Millisecond) // a frame
		s.Poll()
	}
	level.Cancel()
	fmt.Println(theme.State())
	if err := errors.Join(s.Close(), heap.Close()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// theme.raw: "la "
	// theme.raw: "la "
	// theme.raw: "la"
	// vacant
}
