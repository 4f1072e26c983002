// Package wav writes sound as a RIFF file with samples that are not compressed, which every player reads.
package wav

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Write writes signed samples of 16 bits to w. Samples of two channels are interleaved. The rate is in frames a second.
// Write checks neither rate nor channels. If pcm is too long for the format, almost 4 GiB, Write fails. Other errors are
// errors of w.
func Write(w io.Writer, rate, channels int, pcm []int16) error {
	const header = 36
	if uint64(len(pcm)) > (math.MaxUint32-header)/2 {
		return fmt.Errorf("wav: %d samples; the format allows %d", len(pcm), uint64(math.MaxUint32-header)/2)
	}
	le := binary.LittleEndian
	b := append(make([]byte, 0, 44+2*len(pcm)), "RIFF"...)
	b = le.AppendUint32(b, uint32(header+2*len(pcm)))
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(2*channels*rate))
	b = le.AppendUint16(b, uint16(2*channels))
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(2*len(pcm)))
	for _, s := range pcm {
		b = le.AppendUint16(b, uint16(s))
	}
	_, err := w.Write(b)
	return err
}
