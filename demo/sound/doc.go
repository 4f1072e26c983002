// Package sound is what the demo sounds like: a decoder, a mixer, and a device that may be missing.
//
// # The idea
//
// The game notes what happens as events ([cue.Events]) and never asks what became of them; a
// mixer of a fixed size turns them into samples on the device's goroutine; and where there
// is no device the game goes on, and says so once. Nothing here reaches the simulation.
//
// # Layout
//
//	assets --Decode, on a worker--> Clip --Add--> Mixer <--Read-- Device --> system
//	          block of its allocator          ^
//	game tick --cue.Events--Hear--------------'  <--Update, once a tick: clips go home
//
// A tick is:
//
//	events.Reset()
//	game.Tick(...)                      // fills events
//	mixer.Hear(&events, listener, tick)
//	mixer.SetHeat(heat)
//	device.Update()                     // also while the game is paused
//
// and a realm is: decode its layers ([MusicFile]), [Mixer.Add] each, [Mixer.SetMusic], and
// [Mixer.Remove] those of the realm before, which goes on fading out and is freed when it has.
// A [Bank] does all of this: workers of a streamer decode, and what they made is copied in slices of a frame: the
// game's clips lie in the large tier, under a tag.
//
// # Use it when, and when not
//
// It is this game's. What is worth taking elsewhere is the shape: clips in blocks of an allocator
// that go home to it through the game goroutine, while a goroutine that nobody controls plays them.
//
// # Cost
//
//	operation    cost
//	Decode       38 to 92 ns a sample, in wasm 250 to 650; 15 Go objects for each 1,024 samples, the codec's
//	Hear         proportional to the events, at most 12 of a kind; no allocation
//	Update       two locks, each held for a copy; no allocation
//	Read         63 to 122 us for the 735 frames of a tick, all 32 voices and four layers; no allocation
//	Mixer        49 KiB of the Go heap
//
// go test ./demo/sound -bench . prints the first and the fourth: the lowest and the highest of four,
// in wasm of two, and of three runs on an Intel Xeon, Go 1.26.8, on a machine that was busy with other work.
//
// # Concurrency and the collector
//
// Everything belongs to the game goroutine but [Mixer.Read], which is the device's, and [Decode],
// which is its allocator's. Mixer and device meet at a lock that is held for a copy of a few
// commands, and never while anything is mixed. A clip is freed on the game goroutine, once no voice
// plays it.
//
// The library keeps a goroutine of its own for the process, once there was a device. Without
// cgo, FreeBSD and NetBSD have no device: purego, through which the library finds the system's,
// needs cgo there. Every other system needs none.
//
// # Errors
//
// A file that cannot be played costs its sound and one line (ErrFormat, with what is wrong); a mixer
// that is full says ErrFull; no device is one line and silence, and no error.
//
// # Source
//
// Reading between the samples of music: Catmull and Rom, "A Class of Local Interpolating
// Splines" (1974). Equal-power panning is Blumlein's. FLAC is RFC 9639; the limits are those
// of its streamable subset.
package sound
