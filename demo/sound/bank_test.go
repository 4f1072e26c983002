package sound

import (
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/strata-go/strata/assets"
	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory/tiers"
)

func musicFiles(r Realm) (names []string) {
	for l := range Layers {
		names = append(names, MusicFile(r, l))
	}
	return names
}

func newBank(t *testing.T, fsys fs.FS) (*Bank, *Mixer, *strings.Builder) {
	t.Helper()
	h, m, said := newHeap(t), NewMixer(), &strings.Builder{}
	b := NewBank(m, fsys, h, func(err error) { fmt.Fprintln(said, err) })
	t.Cleanup(func() { b.Close(); m.Close() })
	return b, m, said
}

func TestBank_LoadsTheGameInSlices(t *testing.T) {
	b, m, said := newBank(t, assets.FS())
	b.Queue(Effects()...)
	b.Enter(Spore, 0.5)
	b.Queue(musicFiles(Spore)...)
	steps := 1
	for !b.Step(time.Millisecond) {
		steps++
		m.Update()
		m.Skip(perUpdate)
	}
	if n := m.Stats().Clips; n != len(Effects())+Layers || said.Len() != 0 || steps < 5 {
		t.Errorf("%d clips in %d steps; it says %q", n, steps, said)
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
	b, m, said := newBank(t, assets.FS())
	for _, r := range []Realm{Ember, Tide, Spore, Ember} {
		b.Enter(r, 0.2)
		b.Queue(musicFiles(r)...)
		for !b.Step(time.Second) {
		}
		listen(m, Rate/2)
		if n := m.Stats().Clips; n != Layers {
			t.Errorf("%s: %d clips; want %d", r, n, Layers)
		}
	}
	// Left in the midst of loading: nothing of it is kept, nor heard.
	b.Enter(Tide, 0.2)
	b.Queue(musicFiles(Tide)...)
	b.Step(0)
	b.Leave(0.2)
	for !b.Step(time.Second) {
	}
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
	files := fstest.MapFS{EffectFile(cue.Hit, 0): good(EffectFile(cue.Hit, 0)), EffectFile(cue.Hit, 1): {Data: []byte("RIFF....WAVE and so on, for more than forty-two bytes")}}
	for l := range Layers - 1 {
		files[MusicFile(Ember, l)] = good(MusicFile(Ember, l))
	}
	cut := good(MusicFile(Ember, 1))
	cut.Data = cut.Data[:len(cut.Data)/2]
	files[MusicFile(Ember, 1)] = cut
	b, m, said := newBank(t, files)
	b.Enter(Ember, 0.1)
	b.Queue(EffectFile(cue.Hit, 0), EffectFile(cue.Hit, 1))
	b.Queue(musicFiles(Ember)...)
	for !b.Step(time.Second) {
	}
	b.Put("sound/unknown.flac", Clip{}, newHeap(t))
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	want := []string{`sound/hit_1.flac: sound: not a file that can be played: it begins with "RIFF"`, "sound/ember_drums.flac: sound: not a file", "sound/ember_heat.flac: ", "sound/unknown.flac: "}
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
	b, m, _ := newBank(t, assets.FS())
	for range 3 {
		b.Queue(EffectFile(cue.Dash, 0))
		for !b.Step(time.Second) {
		}
		listen(m, block)
	}
	m.Update()
	if n := m.Stats().Clips; n != 1 {
		t.Errorf("%d clips; want 1", n)
	}
}

// The blocks come from a worker's heap and from the game's tiers; each goes home to its own, and at the end
// of a level nothing is left of its music, whatever fades.
func TestBank_BlocksGoHomeAndAreNoLeak(t *testing.T) {
	mem, err := tiers.New(tiers.Config{Workers: 1, Tags: true})
	if err != nil {
		t.Fatal(err)
	}
	tag, err := mem.Tag("sound")
	if err != nil {
		t.Fatal(err)
	}
	m := NewMixer()
	b := NewBank(m, assets.FS(), tag, func(err error) { t.Error(err) })
	if err := mem.BeginLevel(); err != nil {
		t.Fatal(err)
	}
	b.Enter(Ember, 1)
	b.Queue(musicFiles(Ember)...)
	for !b.Step(time.Second) {
	}
	listen(m, Rate/4)
	b.Enter(Tide, 1)
	for l := range Layers {
		decoded := make(chan Clip)
		go func() {
			file, err := assets.FS().Open(MusicFile(Tide, l))
			if err != nil {
				t.Error(err)
			}
			defer file.Close()
			c, err := Decode(file, mem.Worker(0), nil)
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
	b.Queue(musicFiles(Spore)...)
	b.Step(0)
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

// lagging is a file system whose files come when the test says so.
type lagging struct {
	fs.FS
	come chan struct{}
}

func (l lagging) Open(name string) (fs.File, error) {
	<-l.come
	return l.FS.Open(name)
}

func TestBank_NobodyWaitsForAFileThatIsOnItsWay(t *testing.T) {
	files := lagging{assets.FS(), make(chan struct{})}
	b, m, said := newBank(t, files)
	b.Queue(Effects()...)
	began := time.Now()
	for range 3 {
		if b.Step(time.Second) {
			t.Fatal("it is done without a file")
		}
	}
	if took := time.Since(began); took > 500*time.Millisecond {
		t.Errorf("it waited for %v", took)
	}
	close(files.come)
	for !b.Step(time.Second) {
	}
	if n := m.Stats().Clips; n != len(Effects()) || said.Len() != 0 {
		t.Errorf("%d clips; it says %q", n, said)
	}
}

// counted is a file system that knows how many of its files are open.
type counted struct {
	fs.FS
	open *atomic.Int32
}

type countedFile struct {
	fs.File
	open *atomic.Int32
}

func (c counted) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err == nil {
		c.open.Add(1)
		f = countedFile{f, c.open}
	}
	return f, err
}

func (f countedFile) Close() error { f.open.Add(-1); return f.File.Close() }

func TestBank_ClosesEveryFileThatItOpens(t *testing.T) {
	files := counted{assets.FS(), new(atomic.Int32)}
	b, _, _ := newBank(t, files)
	b.Queue(Effects()...)
	b.Enter(Ember, 0)
	b.Queue(musicFiles(Ember)...)
	b.Step(0)
	b.Cut() // the music is on its way, or will be
	for range 40 {
		b.Step(0)
	}
	b.Close() // in the midst of the effects, or of music that nobody wants
	for end := time.Now().Add(5 * time.Second); files.open.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d files are open", files.open.Load())
		}
	}
}
