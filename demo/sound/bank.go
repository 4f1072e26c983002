package sound

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"time"

	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/memory"
)

// A Bank knows which file is which sound, and brings clips to a mixer: those that were decoded
// elsewhere through Put, and in slices those that it decodes itself, in Step. It belongs to the
// game goroutine. A file that cannot be played costs its sound and one line.
//
// Files are opened on goroutines of their own, some ahead of the one that is decoded: in a browser an
// Open is a fetch, and nobody's frame waits for that.
type Bank struct {
	mixer  *Mixer
	fsys   fs.FS
	alloc  memory.Allocator
	log    func(error)
	places map[string]place

	jobs    []string  // files that Step has to decode, in order
	opening []opening // the next of them
	dec     *Decoder
	file    fs.File
	name    string // of file

	on      bool // a realm's music plays or is on its way
	realm   Realm
	fade    float32
	missing int // layers on their way
	coming  [Layers]ClipID
	playing [Layers]ClipID
}

// A place is what a file is for.
type place struct {
	music   bool
	kind    cue.Kind
	realm   Realm
	variant int // or layer
}

// ahead is how many files are opened before they are decoded.
const ahead = 4

// An opening is a file that somebody opens. Its channel has room: nobody need receive.
type opening struct {
	name string
	file <-chan opened
}

type opened struct {
	file fs.File
	err  error
}

func (b *Bank) open(name string) opening {
	c := make(chan opened, 1)
	go func(fsys fs.FS) {
		file, err := fsys.Open(name)
		c <- opened{file, err}
	}(b.fsys)
	return opening{name, c}
}

// NewBank makes a bank for a mixer. Step reads files of fsys into blocks of a, which may be nil where
// Step is never called. Log, which may be nil, is told of each file that cannot be played.
func NewBank(m *Mixer, fsys fs.FS, a memory.Allocator, log func(error)) *Bank {
	b := &Bank{mixer: m, fsys: fsys, alloc: a, log: log, places: map[string]place{}}
	for k := range cue.Count {
		for v := range k.Variants() {
			b.places[EffectFile(k, v)] = place{kind: k, variant: v}
		}
	}
	for r := range Realms {
		for l := range Layers {
			b.places[MusicFile(r, l)] = place{music: true, realm: r, variant: l}
		}
	}
	return b
}

// Effects returns the files of all effects, the commonest first.
func Effects() (names []string) {
	for k := range cue.Count {
		for v := range k.Variants() {
			names = append(names, EffectFile(k, v))
		}
	}
	return names
}

// Queue has Step decode files, after those that wait already.
func (b *Bank) Queue(names ...string) { b.jobs = append(b.jobs, names...) }

// Enter says which realm's music is wanted next. Once all its layers are there, by Put or because
// Fail said that they never will be, they fade in, and those of the realm before fade out and go.
func (b *Bank) Enter(r Realm, fade float32) {
	if r >= Realms || b.on && b.realm == r {
		return
	}
	b.forget()
	b.on, b.realm, b.fade, b.missing = true, r, fade, Layers
}

// Leave fades the music out and lets it go; what is on its way is freed when it comes.
func (b *Bank) Leave(fade float32) {
	b.forget()
	b.fade = fade
	b.change()
	b.on = false
}

// Cut is Leave at once: all music is freed when it returns, as a level's end wants it. See Mixer.Flush.
func (b *Bank) Cut() {
	b.Leave(0)
	if b.dec != nil && b.places[b.name].music {
		b.close()
	}
	b.mixer.Flush()
}

// forget drops the music that is on its way.
func (b *Bank) forget() {
	for i, id := range b.coming {
		b.mixer.Remove(id)
		b.coming[i] = 0
	}
	b.missing = 0
}

// change plays what has come.
func (b *Bank) change() {
	if err := b.mixer.SetMusic(b.coming, b.fade); err != nil {
		b.tell("music of "+b.realm.String(), err)
		b.forget()
		if err := b.mixer.SetMusic(b.coming, b.fade); err != nil {
			b.tell("silence", err)
		}
	}
	for _, id := range b.playing {
		b.mixer.Remove(id)
	}
	b.playing, b.coming = b.coming, [Layers]ClipID{}
}

// Put takes a decoded file over, whose block goes back to home when it is no longer needed: at once
// where it is music of a realm that is no longer wanted. A name that is no sound's is told to log.
func (b *Bank) Put(name string, c Clip, home memory.Allocator) {
	p, known := b.places[name]
	switch {
	case !known:
		b.tell(name, errors.New("no sound of the game has this name"))
		c.Free(home)
		return
	case p.music && (!b.on || b.realm != p.realm || b.missing == 0 || b.coming[p.variant] != 0):
		c.Free(home)
		return
	}
	id, err := b.mixer.Add(c, home)
	if err != nil {
		c.Free(home)
		b.Fail(name, err)
		return
	}
	if !p.music {
		b.mixer.Remove(b.mixer.bank[p.kind][p.variant]) // a file that has changed comes again
		b.mixer.SetEffect(p.kind, p.variant, id)
		return
	}
	b.coming[p.variant] = id
	b.arrived()
}

// Fail says that a file cannot be played: log is told, and nobody waits for it.
func (b *Bank) Fail(name string, err error) {
	b.tell(name, err)
	if p := b.places[name]; p.music && b.on && b.realm == p.realm && b.missing > 0 {
		b.arrived()
	}
}

func (b *Bank) arrived() {
	if b.missing--; b.missing == 0 {
		b.change()
	}
}

func (b *Bank) tell(name string, err error) {
	if b.log != nil {
		b.log(fmt.Errorf("%s: %w", name, err))
	}
}

// Step decodes what was queued until budget is over or nothing is there to decode, and reports whether
// nothing is left. It can be longer by a frame of a file; it does not wait for files to be opened.
func (b *Bank) Step(budget time.Duration) (done bool) {
	for end := time.Now().Add(budget); ; {
		for len(b.opening) < ahead && len(b.jobs) > 0 {
			b.opening = append(b.opening, b.open(b.jobs[0]))
			b.jobs = b.jobs[1:]
		}
		switch {
		case b.dec != nil:
			b.decode(time.Until(end))
		case len(b.opening) == 0:
			return true
		case !b.begin():
			return false
		}
		if !time.Now().Before(end) {
			return b.dec == nil && len(b.opening) == 0 && len(b.jobs) == 0
		}
	}
}

// begin begins with the next file, and reports whether it was there.
func (b *Bank) begin() bool {
	next := b.opening[0]
	var o opened
	select {
	case o = <-next.file:
	default:
		runtime.Gosched() // so that a caller who has nothing else to do gives way
		return false
	}
	b.opening = slices.Delete(b.opening, 0, 1)
	if b.name = next.name; o.err != nil {
		b.Fail(b.name, o.err)
		return true
	}
	if p := b.places[b.name]; p.music && (!b.on || p.realm != b.realm) {
		_ = o.file.Close() // the realm was left before its music was read
		return true
	}
	var err error
	if b.dec, err = NewDecoder(o.file, b.alloc); err != nil {
		b.Fail(b.name, errors.Join(err, o.file.Close()))
		return true
	}
	b.file = o.file
	return true
}

func (b *Bank) decode(budget time.Duration) {
	done, err := b.dec.Step(max(budget, 0))
	if err == nil && !done {
		return
	}
	clip := b.dec.Clip()
	b.close()
	if err != nil {
		b.Fail(b.name, err)
		return
	}
	b.Put(b.name, clip, b.alloc)
}

// close ends the file that is being decoded. What was read is read: an error of Close says nothing.
func (b *Bank) close() {
	b.dec.Close()
	_ = b.file.Close()
	b.dec, b.file = nil, nil
}

// Close gives back what is half decoded. The clips are the mixer's. It may be called twice.
func (b *Bank) Close() {
	b.jobs = nil
	for _, o := range b.opening {
		go func() {
			if o := <-o.file; o.err == nil {
				_ = o.file.Close() // it was not even read
			}
		}()
	}
	b.opening = nil
	if b.dec != nil {
		b.close()
	}
}
