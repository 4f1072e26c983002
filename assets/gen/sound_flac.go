package main

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"
)

// blockFrames is the length of a FLAC frame. Short ones follow the sound, and are a fine step for
// who decodes between the frames of a game.
const blockFrames = 1024

// encodeFLAC packs mono samples of which the lowest 16-used bits are zero. The codec's own analysis
// tries fixed predictors; linear prediction fitted to each block takes a third less.
func encodeFLAC(pcm []int16, rate, used int) ([]byte, error) {
	raw := make([]byte, 2*len(pcm))
	for i, s := range pcm {
		binary.LittleEndian.PutUint16(raw[2*i:], uint16(s))
	}
	var out bytes.Buffer
	enc, err := flac.NewEncoder(&out, &meta.StreamInfo{
		BlockSizeMin: blockFrames, BlockSizeMax: blockFrames, SampleRate: uint32(rate), NChannels: 1,
		BitsPerSample: 16, NSamples: uint64(len(pcm)), MD5sum: md5.Sum(raw),
	})
	if err != nil {
		return nil, err
	}
	enc.EnablePredictionAnalysis(false)
	for len(pcm) > 0 {
		n := min(blockFrames, len(pcm))
		sub := subframe(pcm[:n], uint(16-used))
		err := enc.WriteFrame(&frame.Frame{
			Header: frame.Header{HasFixedBlockSize: true, BlockSize: uint16(n), SampleRate: uint32(rate),
				Channels: frame.ChannelsMono, BitsPerSample: 16},
			Subframes: []*frame.Subframe{sub},
		})
		if err != nil {
			return nil, err
		}
		pcm = pcm[n:]
	}
	return out.Bytes(), enc.Close()
}

// subframe packs a block in the shortest way of those that are tried.
func subframe(pcm []int16, wasted uint) *frame.Subframe {
	s := &frame.Subframe{NSamples: len(pcm), Samples: make([]int32, len(pcm))}
	x := make([]int32, len(pcm))
	constant := true
	for i, v := range pcm {
		s.Samples[i], x[i] = int32(v), int32(v)>>wasted
		constant = constant && v == pcm[0]
	}
	if constant {
		s.Pred = frame.PredConstant
		return s
	}
	s.Wasted = wasted
	width := 16 - wasted
	best := math.MaxInt
	try := func(pred frame.Pred, coeffs []int32, shift int32) {
		size, rice := riceOf(residuals(x, coeffs, shift), len(x), len(coeffs))
		size += len(coeffs) * int(width)
		if pred == frame.PredFIR {
			size += 9 + len(coeffs)*coeffBits
		}
		if size < best {
			best = size
			s.Pred, s.Order, s.Coeffs, s.CoeffPrec, s.CoeffShift, s.RiceSubframe = pred, len(coeffs), coeffs, coeffBits, shift, rice
		}
	}
	for order := range 5 {
		if order < len(x) {
			try(frame.PredFixed, frame.FixedCoeffs[order], 0)
		}
	}
	for _, fit := range predictors(x) {
		coeffs, shift, ok := fixPoint(fit)
		if ok {
			try(frame.PredFIR, coeffs, shift)
		}
	}
	return s
}

func residuals(x, coeffs []int32, shift int32) []int32 {
	out := make([]int32, 0, len(x))
	for i := len(coeffs); i < len(x); i++ {
		var sum int64
		for j, c := range coeffs {
			sum += int64(c) * int64(x[i-j-1])
		}
		out = append(out, x[i]-int32(sum>>shift))
	}
	return out
}

// maxOrder is of linear prediction; more takes longer to decode than it saves.
const maxOrder = 10

// predictors returns least-squares predictors of a few orders (Levinson and Durbin).
func predictors(x []int32) (fits [][]float64) {
	n := len(x)
	if n <= 4*maxOrder {
		return nil
	}
	w := make([]float64, n)
	for i, v := range x {
		u := 2*float64(i)/float64(n-1) - 1
		w[i] = float64(v) * (1 - u*u) // Welch's window
	}
	var r [maxOrder + 1]float64
	for lag := range r {
		for i := lag; i < n; i++ {
			r[lag] += w[i] * w[i-lag]
		}
	}
	r[0] *= 1 + 1e-9
	a, e := make([]float64, maxOrder), r[0]
	for k := range maxOrder {
		if e <= 0 {
			break
		}
		acc := r[k+1]
		for j := range k {
			acc -= a[j] * r[k-j]
		}
		acc /= e
		b := append([]float64(nil), a...)
		for j := range k {
			a[j] = b[j] - acc*b[k-1-j]
		}
		a[k] = acc
		e *= 1 - acc*acc
		if k == 3 || k == 5 || k == 7 || k == maxOrder-1 {
			fits = append(fits, append([]float64(nil), a[:k+1]...))
		}
	}
	return fits
}

const coeffBits = 12

// fixPoint makes coefficients of coeffBits with one shift.
func fixPoint(fit []float64) (coeffs []int32, shift int32, ok bool) {
	top := 0.0
	for _, c := range fit {
		top = max(top, math.Abs(c))
	}
	if top == 0 || math.IsNaN(top) {
		return nil, 0, false
	}
	_, exp := math.Frexp(top)
	if shift = int32(coeffBits - 1 - exp); shift < 0 || shift > 15 {
		return nil, 0, false
	}
	carry := 0.0
	for _, c := range fit {
		v := math.Round(c*float64(int(1)<<shift) + carry)
		carry += c*float64(int(1)<<shift) - v
		coeffs = append(coeffs, int32(max(-(1<<(coeffBits-1)), min(v, 1<<(coeffBits-1)-1))))
	}
	return coeffs, shift, true
}

// riceOf finds the partitions and parameters for which residuals take the fewest bits.
func riceOf(res []int32, n, order int) (size int, best *frame.RiceSubframe) {
	size = math.MaxInt
	for p := range 7 {
		parts := 1 << p
		if n%parts != 0 || n/parts <= order {
			break
		}
		total, at := 0, 0
		rice := &frame.RiceSubframe{PartOrder: p, Partitions: make([]frame.RicePartition, parts)}
		for k := range parts {
			end := (k+1)*(n/parts) - order
			param, bits := parameter(res[at:end])
			rice.Partitions[k].Param = param
			total += bits + 4
			at = end
		}
		if total < size {
			size, best = total, rice
		}
	}
	return size, best
}

func parameter(res []int32) (param uint, size int) {
	var sum uint64
	for _, r := range res {
		sum += uint64(uint32(r<<1) ^ uint32(r>>31))
	}
	guess := 0
	if len(res) > 0 {
		guess = bits.Len64(sum / uint64(len(res)))
	}
	size = math.MaxInt
	for k := min(max(0, guess-2), 14); k <= min(14, guess+1); k++ {
		total := len(res) * (k + 1)
		for _, r := range res {
			total += int((uint32(r<<1) ^ uint32(r>>31)) >> k)
		}
		if total < size {
			param, size = uint(k), total
		}
	}
	return param, size
}
