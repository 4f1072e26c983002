package guides

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/arena"
	"github.com/strata-go/strata/memory/container"
	"github.com/strata-go/strata/memory/gcpace"
	"github.com/strata-go/strata/memory/tiers"
)

var byteType = memory.MustType[byte]()

type service struct{ arenas chan *arena.Linear }

// open makes the arenas. Their number is the limit on requests that are served at once.
func open(requests int) (s service, err error) {
	s.arenas = make(chan *arena.Linear, requests)
	for range requests {
		a, err := arena.NewLinear(nil, arena.LinearConfig{Bytes: 64 << 10})
		if err != nil {
			return s, err
		}
		s.arenas <- a
	}
	return s, nil
}

func (s service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := <-s.arenas // waits if all are in use
	defer func() {
		a.Reset() // all memory of the request
		s.arenas <- a
	}()
	body, err := arena.MakeSliceUninit(a, byteType, int(r.ContentLength)) // fails also if the length is not known
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if _, err := io.ReadFull(r.Body, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%d bytes", len(body))
}

func (s service) close() {
	for range cap(s.arenas) {
		a := <-s.arenas
		_ = a.Close()
	}
}

func Example_requests() {
	s, err := open(2)
	must(err)
	defer s.close()
	for _, body := range []io.Reader{
		strings.NewReader("hello"), strings.NewReader(strings.Repeat("x", 100_000)), io.MultiReader(strings.NewReader("in parts")),
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/", body))
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 5 bytes
	// 413 arena: no space in the Linear of 65536 bytes; raise LinearConfig.Bytes: memory: out of memory
	// 413 memory: request too large for this allocator
}

type entry struct {
	flags uint32
	value container.Vec[byte]
}

type table struct {
	sp      *container.Space             // of container.In(m), or of a Tag
	keys    container.Strings            // container.NewStrings(rand.Uint64()): clients choose the keys
	entries container.Map[uint32, entry] // by the number of the key
}

func (t *table) get(a *arena.Growing, key []byte) ([]byte, error) {
	id, ok := t.keys.LookupBytes(t.sp, key)
	e := t.entries.Ptr(t.sp, id) // nil if there is no entry
	if !ok || e == nil {
		return nil, nil
	}
	b, err := arena.MakeSliceUninitIn(a, byteType, e.value.Len())
	copy(b, e.value.Slice(t.sp))
	return b, err
}

// set adds an entry of a new key. If it fails, nothing has changed.
func (t *table) set(key, value []byte, flags uint32) (id uint32, err error) {
	if id, err = t.keys.InternBytes(t.sp, key); err != nil {
		return 0, err
	}
	e, _, err := t.entries.GetOrSet(t.sp, id, entry{flags: flags})
	if err != nil {
		t.keys.Release(t.sp, id)
		return 0, err
	}
	if err := e.value.AppendSlice(t.sp, value); err != nil {
		t.delete(id)
		return 0, err
	}
	return id, nil
}

func (t *table) evict(oldest []uint32) {
	for _, id := range oldest {
		t.delete(id)
	}
	_ = t.keys.Shrink(t.sp) // an error: the index and the lists of keys keep their size
}

func (t *table) delete(id uint32) {
	t.entries.Ptr(t.sp, id).value.Free(t.sp)
	t.entries.Delete(t.sp, id)
	t.keys.Release(t.sp, id)
}

func Example_entries() {
	m, err := tiers.New(tiers.Config{Workers: -1, GC: gcpace.Config{Keep: true}})
	must(err)
	defer m.Close()
	sp, err := container.In(m)
	must(err)
	t := table{sp: sp, keys: container.NewStrings(rand.Uint64())}
	a, err := arena.NewGrowing(nil, arena.GrowingConfig{Reserve: 4 << 20, Step: 4 << 10})
	must(err)
	defer a.Close()
	id, err := t.set([]byte("user:1"), []byte("Ada"), 1)
	must(err)
	ada, err := t.get(a, []byte("user:1"))
	must(err)
	t.delete(id)
	none, err := t.get(a, []byte("user:1"))
	must(err)
	fmt.Println(string(ada), none == nil, t.keys.Len())
	must(m.Slab().Trim())
	must(m.Large().Trim())
	// Output: Ada true 0
}

func Example_workers() {
	m, err := tiers.New(tiers.Config{Workers: 1, GC: gcpace.Config{Keep: true}})
	must(err)
	defer m.Close()
	results := make(chan []byte)
	go func(w *tiers.Worker) {
		scratch, err := w.BeginTask() // empty; for this task alone
		must(err)
		_, err = arena.MakeSlice(scratch, byteType, 1000)
		must(err)
		result, err := memory.MakeSlice[byte](w, 300) // lives on, in the worker's heap
		must(err)
		must(w.EndTask())
		results <- result
	}(m.Worker(0))
	result := <-results
	must(m.BeginFrame())
	memory.FreeSlice(m, result) // the block is sent to the worker, at EndFrame at the latest
	must(m.EndFrame())
	m.Worker(0).Settle() // as the worker's next allocation does
	fmt.Println(m.Stats(tiers.Inbox).Live, "blocks")
	// Output: 0 blocks
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
