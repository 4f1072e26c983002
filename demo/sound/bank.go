package sound

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory"
)

// A Bank knows which file is which sound, and brings clips to a mixer: those that a streamer's workers decode,
// see Kind, and those that come through Put. It belongs to the game goroutine. A file that cannot be played costs its
// sound and one line.
type Bank struct {
	mixer  *Mixer
	home   memory.Allocator
	log    func(error)
	places map[string]place

	in struct { // what is being handed over
		name string // "": nothing
		pcm  []int16
		at   int
	}

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

// NewBank makes a bank for a mixer. What a streamer delivers is copied into blocks of home, which may be nil
// where Kind is never asked for. Log, which may be nil, is told of each file that cannot be played.
func NewBank(m *Mixer, home memory.Allocator, log func(error)) *Bank {
	b := &Bank{mixer: m, home: home, log: log, places: map[string]place{}}
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

// sliceSamples is how many samples are copied at a time: a quarter of a megabyte, which takes a fraction of a millisecond.
const sliceSamples = 128 << 10

// Kind is the kind of sounds for a streamer: a worker decodes into its heap, and what it made is copied into the bank's
// blocks in slices, one sound at a time. Where a file cannot be decoded the streamer says so; whoever asked for it tells
// Fail, so that nobody waits.
func (b *Bank) Kind() stream.Kind[Clip] {
	return stream.Kind[Clip]{
		Name: "sound",
		Decode: func(r *stream.Reader, heap *stream.Heap) (Clip, error) {
			return Decode(r, heap, func() bool { return r.Wanted() != nil })
		},
		Deliver: func(name string, c, _ *Clip) error { return b.take(name, c) },
		Release: func(name string, _ *Clip) { b.drop(name) },
	}
}

// take copies the next slice of a clip, and puts the copy where it belongs when it is whole.
func (b *Bank) take(name string, c *Clip) error {
	in := &b.in
	switch {
	case in.name == "":
		pcm, err := memory.MakeSlice[int16](b.home, len(c.PCM))
		if err != nil {
			return err
		}
		in.name, in.pcm, in.at = name, pcm, 0
	case in.name != name:
		return stream.ErrMore
	}
	in.at += copy(in.pcm[in.at:], c.PCM[in.at:min(in.at+sliceSamples, len(c.PCM))])
	if in.at < len(in.pcm) {
		return stream.ErrMore
	}
	whole := Clip{in.pcm, c.Rate, c.Channels}
	in.name, in.pcm, c.PCM = "", nil, nil
	b.Put(name, whole, b.home)
	return nil
}

// drop ends a hand-over that is not wanted any more. What was handed over is the mixer's.
func (b *Bank) drop(name string) {
	if b.in.pcm != nil && b.in.name == name {
		memory.FreeSlice(b.home, b.in.pcm)
		b.in.name, b.in.pcm = "", nil
	}
}

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

// Cut is Leave at once: all music is freed when it returns, as the end of a realm requires. See Mixer.Flush.
func (b *Bank) Cut() {
	b.Leave(0)
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

// Fail says that a file cannot be played: nobody waits for it, and log is told, unless err is nil.
func (b *Bank) Fail(name string, err error) {
	if err != nil {
		b.tell(name, err)
	}
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

// Close gives back what is half handed over. The clips are the mixer's. It may be called twice.
func (b *Bank) Close() { b.drop(b.in.name) }
