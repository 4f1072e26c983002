package sound

import (
	"errors"
	"fmt"
	"io"

	"github.com/strata-go/strata/demo/sound/codec"
	"github.com/strata-go/strata/memory"
)

// ErrCancelled is returned by Decode if it was cancelled.
var ErrCancelled = errors.New("sound: decoding was cancelled")

// ErrFormat reports that a file or clip cannot be played. Errors that wrap it have the reason.
var ErrFormat = errors.New("sound: not a file that can be played")

// Decode reads a file into a block of a. If cancelled is not nil, Decode calls it before each of the file's frames (at
// most 4096 samples). If cancelled returns true, the error is ErrCancelled. After an error the block is freed.
//
// Call Decode on the goroutine that a belongs to. Until Decode returns, a second block of a has the packed bytes. If the
// file is malformed, the error wraps [ErrFormat] and states what is wrong and what is allowed. A file that ends too early
// is malformed. Other errors are those of r, or of a, such as [memory.ErrOutOfMemory].
func Decode(r io.Reader, a memory.Allocator, cancelled func() bool) (Clip, error) {
	var head [codec.HeaderBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Clip{}, early(err, "header", len(head))
	}
	h, err := codec.ParseHeader(&head)
	if err != nil {
		return Clip{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	packed, err := memory.MakeSlice[byte](a, h.Bytes)
	if err != nil {
		return Clip{}, err
	}
	defer memory.FreeSlice(a, packed)
	if _, err := io.ReadFull(r, packed); err != nil {
		return Clip{}, early(err, "frames", len(packed))
	}
	d, err := codec.NewDecoder(h, packed)
	if err != nil {
		return Clip{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	pcm, err := memory.MakeSlice[int16](a, h.Samples)
	if err != nil {
		return Clip{}, err
	}
	for at := 0; at < len(pcm); at += d.Next(pcm[at:]) {
		if cancelled != nil && cancelled() {
			memory.FreeSlice(a, pcm)
			return Clip{}, ErrCancelled
		}
	}
	return Clip{PCM: pcm, Rate: h.Rate, Channels: 1}, nil
}

// early returns an error of the reader, which is ErrFormat if the file has ended.
func early(err error, part string, size int) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: the file ends too early, inside its %s of %d bytes", ErrFormat, part, size)
	}
	return err
}
