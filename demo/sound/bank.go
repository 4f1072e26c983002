package sound

import (
	"errors"
	"fmt"

	"github.com/strata-go/strata/demo/sound/cue"
	"github.com/strata-go/strata/engine/stream"
	"github.com/strata-go/strata/memory"
)

// A Bank assigns files to sounds and adds their clips to a mixer: clips that a streamer's workers decode, see Kind,
// and clips passed to Put. It belongs to the game goroutine. A file that cannot be played is left out and logged.
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

	on      bool // a realm's music plays or is loading
	realm   Realm
	fade    float32
	missing int // layers that are loading
	coming  [Layers]ClipID
	playing [Layers]ClipID
}

// A place is the use of a file.
type place struct {
	music   bool
	kind    cue.Kind
	realm   Realm
	variant int // or layer
}

// NewBank returns a bank for a mixer. Sounds that a streamer delivers are copied into blocks of home. If Kind is not
// used, home may be nil. If log is not nil it is called for each file that cannot be played.
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

// Effects returns the files of all effects, in the order of cue.Kind. A kind with several variants has several files, in
// the order of their numbers.
func Effects() (names []string) {
	for k := range cue.Count {
		for v := range k.Variants() {
			names = append(names, EffectFile(k, v))
		}
	}
	return names
}

// sliceSamples is how many samples are copied at a time: a quarter of a megabyte, which takes a fraction of a
// millisecond.
const sliceSamples = 128 << 10

// Kind returns the description of sounds with which a streamer loads them. A worker decodes a file into its own heap.
// Then the samples are copied on the game goroutine into a block of the Bank's allocator, in slices and one sound at a
// time. If the streamer reports that a file cannot be loaded, the caller must call [Bank.Fail] with the file's name.
// Otherwise the music waits for this file.
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

// take copies the next slice of a clip, and puts the copy into the mixer when it is complete.
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

// drop ends the copying of a sound that is no longer wanted. Complete copies belong to the mixer.
func (b *Bank) drop(name string) {
	if b.in.pcm != nil && b.in.name == name {
		memory.FreeSlice(b.home, b.in.pcm)
		b.in.name, b.in.pcm = "", nil
	}
}

// Enter selects the realm whose music is played next. The caller must then call Put or Fail once for each layer of the
// realm's music. After the last of these calls the layers fade in for the given seconds. During this fade the music of
// the former realm fades out. Then it is freed. If the layers do not fit together, there is no music, see
// [Mixer.SetMusic]. If r is invalid or already selected, Enter does nothing.
func (b *Bank) Enter(r Realm, fade float32) {
	if r >= Realms || b.on && b.realm == r {
		return
	}
	b.forget()
	b.on, b.realm, b.fade, b.missing = true, r, fade, Layers
}

// Leave fades the music out for the given seconds and frees it. Layers that arrive before the next
// Enter are freed.
func (b *Bank) Leave(fade float32) {
	b.forget()
	b.fade = fade
	b.change()
	b.on = false
}

// Cut ends the music at once, and frees it before Cut returns, for the end of a realm. Cut is [Bank.Leave] with a fade
// of 0, followed by [Mixer.Flush].
func (b *Bank) Cut() {
	b.Leave(0)
	b.mixer.Flush()
}

// forget drops the music that is loading.
func (b *Bank) forget() {
	for i, id := range b.coming {
		b.mixer.Remove(id)
		b.coming[i] = 0
	}
	b.missing = 0
}

// change plays the loaded layers.
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

// Put takes ownership of a decoded file. The block of c is freed to home when the sound is no longer needed. An effect
// replaces the former clip of this name. If c is music that is not wanted now, Put frees the block at once. If the
// mixer refuses c, or if no sound has this name, Put also frees the block and logs the reason.
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
		b.mixer.Remove(b.mixer.bank[p.kind][p.variant]) // a changed file replaces its former clip
		b.mixer.SetEffect(p.kind, p.variant, id)
		return
	}
	b.coming[p.variant] = id
	b.arrived()
}

// Fail reports that a file cannot be played, so that the music does not wait for it. If err is not nil, Fail logs err.
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

// Close frees the block of a sound whose samples were copied only in part. Other blocks belong to the mixer, which
// frees them. Close may be called twice.
func (b *Bank) Close() { b.drop(b.in.name) }
