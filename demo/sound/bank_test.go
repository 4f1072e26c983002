package sound

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unsafe"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory"
	"github.com/strata-go/strata/memory/memtest/testenv"
	"github.com/strata-go/strata/memory/tiers"
	"github.com/strata-go/strata/memory/tlsf"
)

// The realms, in the order in which they are played.
const (
	Ember Realm = iota
	Tide
	Spore
)

func musicFiles(r Realm) (names []string) {
	for l := range Layers {
		names = append(names, MusicFile(r, l))
	}
	return names
}

func newBank(t *testing.T) (*Bank, *Mixer, *strings.Builder) {
	t.Helper()
	h, m, said := newHeap(t), NewMixer(), &strings.Builder{}
	b := NewBank(m, h, func(err error) { fmt.Fprintln(said, err) })
	t.Cleanup(func() { b.Close(); m.Close() })
	return b, m, said
}

// put decodes files and passes them to the bank, as a program without a streamer would.
func put(t *testing.T, b *Bank, fsys fs.FS, names ...string) {
	t.Helper()
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		var c Clip
		if err == nil {
			c, err = Decode(bytes.NewReader(data), b.home, nil)
		}
		if err != nil {
			b.Fail(name, err)
			continue
		}
		b.Put(name, c, b.home)
	}
}

// streamed returns a streamer of the bank's, whose heap is given back when it is closed.
func streamed(t *testing.T, b *Bank, fsys fs.FS) (*stream.Streamer, *tlsf.Heap) {
	t.Helper()
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	s, err := stream.New(stream.Config{
		FS: fsys, Workers: 1,
		Heap: func(int) memory.Allocator { return &locked{&lock, heap} },
		Free: (&locked{&lock, heap}).Free,
	})
	if err == nil {
		err = stream.Register(s, b.Kind())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil || heap.Stats().Live != 0 {
			t.Error(err, heap.Stats())
		}
		if err := heap.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, heap
}

type locked struct {
	sync.Locker
	heap *tlsf.Heap
}

func (l *locked) Alloc(size, align uintptr) (unsafe.Pointer, error) {
	l.Lock()
	defer l.Unlock()
	return l.heap.Alloc(size, align)
}

func (l *locked) Free(p unsafe.Pointer, size uintptr) {
	l.Lock()
	defer l.Unlock()
	l.heap.Free(p, size)
}

func TestBank_AStreamerLoadsTheGameInSlices(t *testing.T) {
	b, m, said := newBank(t)
	st, _ := streamed(t, b, assets.FS())
	b.Enter(Spore, 0.5)
	var tickets []stream.Handle[Clip]
	for _, name := range append(Effects(), musicFiles(Spore)...) {
		tickets = append(tickets, stream.Request[Clip](st, name, 0))
	}
	sliced := 0 // frames that ended during the copy of a clip
	for _, k := range tickets {
		for k.State() != stream.Loaded {
			if k.State() == stream.Failed {
				t.Fatal(k.Err())
			}
			st.Wait()
			began := b.in.at
			if st.Poll(); b.in.at > began+sliceSamples {
				t.Errorf("%d samples in a frame", b.in.at-began)
			}
			if b.in.name != "" {
				sliced++
			}
			m.Update()
			m.Skip(perUpdate)
		}
		if c, _ := k.Get(); c.PCM != nil {
			t.Error("the clip of a ticket points to a block that has gone home")
		}
	}
	if n := m.Stats().Clips; n != len(Effects())+Layers || said.Len() != 0 || sliced < Layers {
		t.Errorf("%d clips, %d frames in the midst of one; it says %q", n, sliced, said)
	}
	listen(m, Rate)
	if p := both(listen(m, Rate)); p < 0.01 {
		t.Errorf("the music has a level of %v", p)
	}
	say(m, 1, cue.Gift, one(0, 0))
	listen(m, block)
	if m.Stats().Voices != 1 {
		t.Error("an effect is not heard")
	}
}

func TestBank_ARealmThatIsLeftIsFreed(t *testing.T) {
	b, m, said := newBank(t)
	for _, r := range []Realm{Ember, Tide, Spore, Ember} {
		b.Enter(r, 0.2)
		put(t, b, assets.FS(), musicFiles(r)...)
		listen(m, Rate/2)
		if n := m.Stats().Clips; n != Layers {
			t.Errorf("%s: %d clips; want %d", r, n, Layers)
		}
	}
	// Left during loading: nothing of it is kept, nor heard.
	b.Enter(Tide, 0.2)
	put(t, b, assets.FS(), musicFiles(Tide)[:2]...)
	b.Leave(0.2)
	put(t, b, assets.FS(), musicFiles(Tide)[2:]...)
	listen(m, Rate/2)
	if n := m.Stats().Clips; n != 0 || said.Len() != 0 {
		t.Errorf("%d clips are kept; it says %q", n, said)
	}
	if p := both(listen(m, Rate/10)); p != 0 {
		t.Errorf("a level of %v is left", p)
	}
}

// A bad file costs its own sound, one line that names it, and nothing else.
func TestBank_ABadFileCostsItsSoundAndOneLine(t *testing.T) {
	good := func(name string) *fstest.MapFile {
		data, err := fs.ReadFile(assets.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		return &fstest.MapFile{Data: data}
	}
	files := fstest.MapFS{EffectFile(cue.Hit, 0): good(EffectFile(cue.Hit, 0)), EffectFile(cue.Hit, 1): {Data: []byte("RIFF....WAVE and so on, for more than the fifty-eight bytes of a first page")}}
	for l := range Layers - 1 {
		files[MusicFile(Ember, l)] = good(MusicFile(Ember, l))
	}
	cut := good(MusicFile(Ember, 1))
	cut.Data = cut.Data[:len(cut.Data)/2]
	files[MusicFile(Ember, 1)] = cut
	b, m, said := newBank(t)
	b.Enter(Ember, 0.1)
	put(t, b, files, append([]string{EffectFile(cue.Hit, 0), EffectFile(cue.Hit, 1)}, musicFiles(Ember)...)...)
	b.Put("sound/unknown.ogg", Clip{}, newHeap(t))
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	want := []string{`sound/hit_1.ogg: sound: not a file that can be played: it begins with "RIFF"`, "sound/ember_drums.ogg: sound: not a file", "sound/ember_heat.ogg: ", "sound/unknown.ogg: "}
	if len(lines) != len(want) {
		t.Fatalf("it says %q", lines)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("it says %q; want %q", lines[i], want[i])
		}
	}
	listen(m, Rate)
	if p := both(listen(m, Rate)); p < 0.01 || m.Stats().Clips != 3 {
		t.Errorf("what is left of the music has a level of %v, of %d clips", p, m.Stats().Clips)
	}
}

func TestBank_AnEffectThatComesAgainTakesThePlaceOfTheFirst(t *testing.T) {
	b, m, _ := newBank(t)
	for range 3 {
		put(t, b, assets.FS(), EffectFile(cue.Dash, 0))
		listen(m, block)
	}
	m.Update()
	if n := m.Stats().Clips; n != 1 {
		t.Errorf("%d clips; want 1", n)
	}
}

// The blocks come from a worker's heap and from the game's tiers, and each is freed to its own. At the end of a level
// nothing is left of its music, even if it still fades.
func TestBank_BlocksGoHomeAndAreNoLeak(t *testing.T) {
	testenv.Long(t)
	mem, err := tiers.New(tiers.Config{Workers: 1, Tags: true})
	if err != nil {
		t.Fatal(err)
	}
	tag, err := mem.Tag("sound")
	if err != nil {
		t.Fatal(err)
	}
	m := NewMixer()
	b := NewBank(m, tag, func(err error) { t.Error(err) })
	if err := mem.BeginLevel(); err != nil {
		t.Fatal(err)
	}
	b.Enter(Ember, 1)
	put(t, b, assets.FS(), musicFiles(Ember)...)
	listen(m, Rate/4)
	b.Enter(Tide, 1)
	for l := range Layers {
		decoded := make(chan Clip)
		go func() {
			data, err := fs.ReadFile(assets.FS(), MusicFile(Tide, l))
			if err != nil {
				t.Error(err)
			}
			c, err := Decode(bytes.NewReader(data), mem.Worker(0), nil)
			if err != nil {
				t.Error(err)
			}
			decoded <- c
		}()
		b.Put(MusicFile(Tide, l), <-decoded, mem)
	}
	listen(m, Rate/4)
	if n := m.Stats().Clips; n != 2*Layers {
		t.Errorf("%d clips in the midst of a fade; want %d", n, 2*Layers)
	}
	b.Enter(Spore, 1)
	put(t, b, assets.FS(), musicFiles(Spore)[:3]...)
	b.Cut()
	if n := m.Stats().Clips; n != 0 {
		t.Errorf("%d clips are left", n)
	}
	home := make(chan struct{})
	go func() { mem.Worker(0).Settle(); close(home) }()
	<-home
	if n := mem.Worker(0).Stats().Live; n != 0 {
		t.Errorf("%d blocks did not go home to the worker", n)
	}
	leaks, err := mem.EndLevel()
	if err != nil || leaks.Any() {
		t.Errorf("%v; the level leaks %v", err, leaks)
	}
	b.Close()
	m.Close()
	if err := mem.Close(); err != nil {
		t.Error(err)
	}
}

func TestMixer_FlushFreesAtOnceAndWithoutAClick(t *testing.T) {
	m, h := newMixer(t, 10*Rate, 0.5)
	if err := m.SetMusic(four(t, m, h, 200), 0.01); err != nil {
		t.Fatal(err)
	}
	say(m, 1, cue.Gift, one(0, 0))
	x := listen(m, Rate)
	usual := steepest(x[block:])
	for i := range m.slots {
		if m.slots[i].live {
			m.Remove(ClipID(m.slots[i].gen<<8 | uint32(i+1)))
		}
	}
	m.Flush()
	if n := h.Stats().Live; n != 0 {
		t.Errorf("%d clips are left", n)
	}
	if d := steepest(append(x, listen(m, Rate/4)...)); d > 1.5*usual {
		t.Errorf("a step of %v; usual are %v", d, usual)
	}
}

func TestBank_AHandOverThatIsNotWantedAnyMoreIsFreed(t *testing.T) {
	b, m, _ := newBank(t)
	st, heap := streamed(t, b, assets.FS())
	b.Enter(Tide, 0)
	scope := st.NewScope("music")
	for _, name := range musicFiles(Tide) {
		stream.Request[Clip](scope, name, 0)
	}
	for b.in.at == 0 || b.in.name == "" { // during the copy of one
		st.Wait()
		st.Poll()
	}
	half := b.in.name
	scope.Cancel()
	b.Cut()
	if b.in.name != "" || b.in.pcm != nil {
		t.Errorf("%s is still half handed over", half)
	}
	for !st.Settled() {
		st.Wait()
	}
	st.Poll()
	if n := m.Stats().Clips; n != 0 || heap.Stats().Live != 0 {
		t.Errorf("%d clips, %d blocks of the worker", n, heap.Stats().Live)
	}
	b.Enter(Tide, 0) // and again
	for _, name := range musicFiles(Tide) {
		stream.Request[Clip](scope, name, 0)
	}
	for p := scope.Progress(); p.Done < p.Total; p = scope.Progress() {
		st.Wait()
		st.Poll()
	}
	if n := m.Stats().Clips; n != Layers {
		t.Errorf("%d clips; want %d", n, Layers)
	}
}

func TestBank_AFullTierIsTheFilesErrorAndNobodyWaits(t *testing.T) {
	m := NewMixer()
	small, err := tlsf.New(nil, tlsf.Config{Reserve: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	b := NewBank(m, small, nil)
	st, _ := streamed(t, b, assets.FS())
	k := stream.Request[Clip](st, MusicFile(Ember, 0), 0)
	for k.State() != stream.Failed {
		st.Wait()
		st.Poll()
	}
	if err := k.Err(); !errors.Is(err, memory.ErrOutOfMemory) && !errors.Is(err, memory.ErrTooLarge) || b.in.name != "" {
		t.Error(k.Err(), b.in.name)
	}
	m.Close()
	if err := small.Close(); err != nil {
		t.Error(err)
	}
}
