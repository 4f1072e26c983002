package sound

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Clip is decoded sound: signed samples of 16 bits, interleaved where there are two channels,
// in one block of the allocator that [Decode] was given. The block is the holder's, who gives it
// back with Free, or hands it to a mixer with [Mixer.Add], which does then.
type Clip struct {
	PCM      []int16
	Rate     int // frames a second
	Channels int // 1 or 2
}

// Frames returns the length in frames: a sample for each channel.
func (c Clip) Frames() int { return len(c.PCM) / max(c.Channels, 1) }

// Seconds returns the length in seconds.
func (c Clip) Seconds() float64 { return float64(c.Frames()) / float64(max(c.Rate, 1)) }

// Bytes returns the size of the block.
func (c Clip) Bytes() uintptr { return uintptr(len(c.PCM)) * unsafe.Sizeof(int16(0)) }

// Free gives the block back to a, which is the allocator that it came from, or one that sends it
// there, as a tiers.Manager does for a block of a worker's. The clip must not be used afterwards.
func (c Clip) Free(a memory.Allocator) { memory.FreeSlice(a, c.PCM) }
