package sound

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mewkiz/flac"

	"github.com/strata-go/strata/memory"
)

// ErrCancelled is returned by Decode if it was cancelled, and by Step after Close.
var ErrCancelled = errors.New("sound: decoding was cancelled")

// Decode reads a FLAC file into a block of a. If cancelled is not nil, Decode calls it before each of the file's frames
// (at most 4608 samples of a channel). If cancelled returns true, the error is ErrCancelled. After an error the block
// is freed.
//
// Call Decode on the goroutine that a belongs to. If the file is malformed, the error wraps [ErrFormat] and states what
// is wrong and what is allowed. An error of r after the header wraps ErrFormat, too. Other errors are those of r, or of
// a, such as [memory.ErrOutOfMemory]. The codec also allocates on the Go heap in proportion to the file's frames, see
// BenchmarkDecode, and no buffer above 64 KiB.
func Decode(r io.Reader, a memory.Allocator, cancelled func() bool) (Clip, error) {
	d, err := NewDecoder(r, a)
	if err != nil {
		return Clip{}, err
	}
	for done := false; !done; {
		if cancelled != nil && cancelled() {
			d.Close()
			return Clip{}, ErrCancelled
		}
		if done, err = d.Step(0); err != nil {
			d.Close()
			return Clip{}, err
		}
	}
	return d.Clip(), nil
}

// A Decoder does the work of [Decode] in steps, for a caller with little time in a frame. It belongs to the goroutine
// of its allocator.
type Decoder struct {
	stream *flac.Stream
	alloc  memory.Allocator
	format format
	pcm    []int16
	at     int // frames decoded
	err    error
	taken  bool
}

// NewDecoder reads and checks the header, and allocates the block for all samples. The errors are those of Decode.
func NewDecoder(r io.Reader, a memory.Allocator) (*Decoder, error) {
	var head [headerBytes]byte
	f, err := readHeader(r, &head)
	if err != nil {
		return nil, err
	}
	rest := io.LimitReader(r, f.fileBytes())
	stream, err := flac.New(io.MultiReader(bytes.NewReader(head[:]), rest))
	if err != nil {
		return nil, fmt.Errorf("%w: metadata: %w", ErrFormat, err)
	}
	pcm, err := memory.MakeSlice[int16](a, f.frames*f.channels)
	if err != nil {
		return nil, err
	}
	return &Decoder{stream: stream, alloc: a, format: f, pcm: pcm}, nil
}

// Step decodes at least one frame of the file, and further frames until budget has passed. It can exceed the budget by
// the time of one frame. Step reports whether the clip is complete. After an error Step returns the same error again,
// and the caller must call Close.
func (d *Decoder) Step(budget time.Duration) (done bool, err error) {
	if d.err != nil {
		return false, d.err
	}
	began := time.Now()
	for d.at < d.format.frames {
		if err := d.frame(); err != nil {
			d.err = err
			return false, err
		}
		if time.Since(began) >= budget {
			break
		}
	}
	return d.at == d.format.frames, nil
}

// frame decodes one frame of the file. Its own header is checked before its samples are read: the codec would
// allocate eight channels of 65,535 samples regardless of the file's header.
func (d *Decoder) frame() error {
	f, err := d.stream.Next()
	if err != nil {
		return d.broken(err)
	}
	n := int(f.BlockSize)
	switch {
	case f.Channels.Count() != d.format.channels,
		f.SampleRate != 0 && int(f.SampleRate) != d.format.rate,
		f.BitsPerSample != 0 && f.BitsPerSample != 16:
		return d.broken(fmt.Errorf("it has %d channels, %d Hz and %d bits; the file's header says %d, %d and 16",
			f.Channels.Count(), f.SampleRate, f.BitsPerSample, d.format.channels, d.format.rate))
	case n == 0 || n > d.format.block || n > d.format.frames-d.at:
		return d.broken(fmt.Errorf("it has %d samples; the file's header allows 1 to %d", n, min(d.format.block, d.format.frames-d.at)))
	}
	f.BitsPerSample = 16 // the frame may leave it to the file's header
	if err := f.Parse(); err != nil {
		return d.broken(err)
	}
	out := d.pcm[d.at*d.format.channels : (d.at+n)*d.format.channels]
	for c, sub := range f.Subframes {
		if len(sub.Samples) != n {
			return d.broken(fmt.Errorf("channel %d has %d samples instead of %d", c, len(sub.Samples), n))
		}
		for i, s := range sub.Samples {
			out[i*d.format.channels+c] = int16(max(-32768, min(s, 32767)))
		}
	}
	d.at += n
	return nil
}

func (d *Decoder) broken(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the file ends too early")
	}
	return fmt.Errorf("%w: at frame %d of %d: %w", ErrFormat, d.at, d.format.frames, err)
}

// Progress returns the decoded share, from 0 to 1.
func (d *Decoder) Progress() float64 { return float64(d.at) / float64(d.format.frames) }

// Clip returns the complete clip, which the caller then owns. Until Step has returned true, Clip returns the empty
// Clip. After a call that returned the complete clip, further calls return the empty Clip.
func (d *Decoder) Clip() Clip {
	if d.at < d.format.frames || d.taken {
		return Clip{}
	}
	d.taken = true
	return Clip{PCM: d.pcm, Rate: d.format.rate, Channels: d.format.channels}
}

// Close frees the block, unless Clip has returned it. Close may be called twice.
func (d *Decoder) Close() {
	if !d.taken {
		d.taken = true
		memory.FreeSlice(d.alloc, d.pcm)
	}
	if d.err == nil {
		d.err = ErrCancelled
	}
}
