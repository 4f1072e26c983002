// Package sound plays the sounds of the demo: a decoder, a mixer, and a device that may be missing.
//
// # The idea
//
// The game records what happens as events ([cue.Events]) and gets no answer. A mixer of a fixed size turns them into
// samples on the device's goroutine. Without a device the game logs one line and goes on. The simulation receives
// nothing from this package.
//
// # Layout
//
//	assets --Decode, on a worker--> Clip --Add--> Mixer <--Read-- Device --> system
//	          block of its allocator          ^
//	game tick --cue.Events--Hear--------------'  <--Update, once a tick: clips are freed
//
// A tick is:
//
//	events.Reset()
//	game.Tick(...)                      // fills events
//	mixer.Hear(&events, listener, tick)
//	mixer.SetHeat(heat)
//	device.Update()                     // also while the game is paused
//
// For a realm's music decode its layers ([MusicFile]), call [Mixer.Add] for each, then [Mixer.SetMusic]. Call
// [Mixer.Remove] for the layers of the realm before: they are freed when they have faded out.
//
// A [Bank] does all of this. Workers of a streamer decode, and the samples are copied in slices, one a frame. The
// game's clips lie in the large tier, under a tag.
//
// # Use it when, and when not
//
// The package is made for this game. Other programs can reuse its structure: clips lie in blocks of an allocator and
// are freed on the game goroutine, while a goroutine of the system plays them.
//
// # Cost
//
//	operation    cost
//	Decode       108 to 307 ns a sample; 130 to 650 KB and 241 to 6,411 objects of the Go heap a file, most with long ones
//	Hear         proportional to the events, at most 12 of a kind; no allocation
//	Update       a lock, held for a copy; no allocation
//	limiter      32 frames of delay; the horde's sounds are mixed for themselves and evened out
//	Read         63 to 122 µs for the 735 frames of a tick with all 32 voices and four layers; no allocation
//	Mixer        54 KiB of the Go heap
//
// go test ./demo/sound -bench . prints Decode and Read. The figures of Read are the lowest and the highest of three
// runs, on a busy Intel Xeon with Go 1.26.8. Each of Decode is of one run.
//
// # Concurrency and the collector
//
// Everything belongs to the game goroutine except [Mixer.Read] and [Mixer.Render], which belong to the device's, and
// [Decode], which runs on the goroutine of its allocator. Mixer and device share a queue, whose lock is held only while
// a few commands are copied. The comments of [Mixer] and its methods say which of them may wait for mixing. A clip is
// freed on the game goroutine once no voice plays it.
//
// After a device was opened the sound library keeps a goroutine until the process ends. Without cgo, FreeBSD and
// NetBSD have no device, because the library's purego needs cgo there. Other systems do not need cgo.
//
// # Errors
//
// A file that cannot be played is left out and logged as one line ([ErrFormat] with the reason). [Decode] reads only
// the files of two settings of oggenc, which it lists. [Mixer.Add] returns [ErrFull] if the mixer is full. A missing
// device is not an error: the game prints one line and is silent.
//
// # Source
//
// Reading between the samples of music: Catmull and Rom, "A Class of Local Interpolating
// Splines" (1974). Equal-power panning is Blumlein's. Vorbis is the
// "Vorbis I specification" of Xiph.Org (2020), Ogg is RFC 3533.
package sound
