package sound

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/jfreymuth/oggvorbis"

	"github.com/strata-go/strata/memory"
)

// ErrCancelled is returned by Decode if it was cancelled.
var ErrCancelled = errors.New("sound: decoding was cancelled")

// A File is what Decode reads: a [bytes.Reader] or a stream.Reader.
type File interface {
	io.Reader
	Size() int64 // in bytes
}

// Decode reads a file of Ogg Vorbis into a block of a. If the file has the tags LOOPSTART and LOOPLENGTH, the clip has
// only the samples of this loop. Without these tags it has all samples. If cancelled is not nil, Decode calls it at least
// once every 4,096 samples. If cancelled returns true, the error is ErrCancelled. After an error the block is freed.
//
// The file must have one channel, at most four comments, and the setup header that oggenc writes with -q 2 at 22050 Hz
// or with -q 3 at 32000 Hz. With other setup headers the library could allocate without a bound, or search forever. See
// [MaxBytes] for the largest file.
//
// Call Decode on the goroutine that a belongs to. During the call Decode allocates a second block from a, which
// contains the file. If the file is malformed, not allowed or ends too early, the error wraps [ErrFormat] and states the
// reason. Other errors are errors of r, or of a, such as [memory.ErrOutOfMemory]. The library also allocates on the Go
// heap: see BenchmarkDecode.
func Decode(r File, a memory.Allocator, cancelled func() bool) (Clip, error) {
	var head [headBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Clip{}, early(err, "first page", len(head))
	}
	rate, err := parseHead(&head)
	if err != nil {
		return Clip{}, err
	}
	size := r.Size()
	if size < headBytes || size > maxFile {
		return Clip{}, fmt.Errorf("%w: a file of %d bytes; allowed are %d to %d", ErrFormat, size, headBytes, maxFile)
	}
	file, err := memory.MakeSlice[byte](a, int(size))
	if err != nil {
		return Clip{}, err
	}
	defer memory.FreeSlice(a, file)
	if _, err := io.ReadFull(r, file[copy(file, head[:]):]); err != nil {
		return Clip{}, early(err, "pages", len(file))
	}
	samples, err := parseFile(file, rate)
	if err != nil {
		return Clip{}, err
	}
	d := decoder{}
	if err := d.open(file); err != nil {
		return Clip{}, fmt.Errorf("%w: headers: %w", ErrFormat, err)
	}
	from, to, err := part(d.stream.CommentHeader().Comments, samples)
	if err != nil {
		return Clip{}, err
	}
	pcm, err := memory.MakeSlice[int16](a, to-from)
	if err != nil {
		return Clip{}, err
	}
	for at := 0; ; {
		if cancelled != nil && cancelled() {
			memory.FreeSlice(a, pcm)
			return Clip{}, ErrCancelled
		}
		x, err := d.next(samples - at)
		d.keep(pcm, x, at-from, min(from, len(pcm), len(d.lead)))
		at += len(x)
		if err == io.EOF {
			return Clip{PCM: pcm, Rate: rate, Channels: 1}, nil
		}
		if err != nil {
			memory.FreeSlice(a, pcm)
			return Clip{}, fmt.Errorf("%w: at sample %d of %d: %w", ErrFormat, at, samples, err)
		}
	}
}

var errEarly = errors.New("the file ends too early")

// A decoder turns panics of the library into errors: malformed packets index its tables out of range.
type decoder struct {
	stream *oggvorbis.Reader
	buffer [4096]float32
	lead   [512]float32 // the last samples before a loop
}

func (d *decoder) open(file []byte) (err error) {
	defer recovered(&err)
	d.stream, err = oggvorbis.NewReader(bytes.NewReader(file))
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errEarly
	}
	return err
}

// next returns the next samples of those that are left. After the last one the error is io.EOF.
func (d *decoder) next(left int) (x []float32, err error) {
	defer recovered(&err)
	n, err := d.stream.Read(d.buffer[:])
	switch {
	case n > left:
		return nil, errors.New("the file has more samples than its last page says")
	case err == io.EOF && n < left, err == io.ErrUnexpectedEOF:
		return nil, errEarly
	}
	return d.buffer[:n], err
}

// keep copies x, of which the first is sample at, to pcm. The noise of the encoder differs at both ends of a loop, which
// would be heard as a click. So its last samples, as many as fade says, turn into those that were before its first.
func (d *decoder) keep(pcm []int16, x []float32, at, fade int) {
	for i, v := range x {
		switch p := at + i; {
		case p >= -fade && p < 0:
			d.lead[p+fade] = v
		case p >= 0 && p < len(pcm):
			if k := p + fade - len(pcm); k >= 0 {
				v += (d.lead[k] - v) * float32(k+1) / float32(fade)
			}
			pcm[p] = int16(min(int32(v*32768+32768.5), 65535) - 32768)
		}
	}
}

func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("a malformed packet: %v", p)
	}
}
