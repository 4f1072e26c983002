package sound

import (
	"unsafe"

	"github.com/strata-go/strata/memory"
)

// A Clip is decoded sound: signed samples of 16 bits in one block of the allocator passed to [Decode]. Two channels
// are interleaved. The owner of the clip frees the block with Free, or passes it to a mixer with [Mixer.Add]: the
// mixer frees it.
type Clip struct {
	PCM      []int16
	Rate     int // frames a second
	Channels int // 1 or 2
}

// Frames returns the length in frames. A frame is a sample of each channel.
func (c Clip) Frames() int { return len(c.PCM) / max(c.Channels, 1) }

// Bytes returns the size of the clip's block in bytes.
func (c Clip) Bytes() uintptr { return uintptr(len(c.PCM)) * unsafe.Sizeof(int16(0)) }

// Free frees the block. The allocator a must be the one passed to [Decode], or one that returns the block to it. For a
// worker's block that is the tiers.Manager. The clip must not be used afterwards.
func (c Clip) Free(a memory.Allocator) { memory.FreeSlice(a, c.PCM) }
