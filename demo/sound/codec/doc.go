// Package codec packs sounds of one channel and reads them again. It is lossy: it leaves out what louder parts of the
// sound mask.
//
// # The idea
//
// A sound is split into overlapping frames. Each frame becomes frequencies by a modified discrete cosine transform
// (MDCT). The frequencies of a band, half a Bark wide, share a step and are rounded to multiples of it. A step is such
// that the noise of rounding stays below what the ear masks. A range coder packs the multiples. It learns how large a
// multiple is beside its neighbours in the frame and in the frame before, so a steady tone takes little.
//
//	samples --window, MDCT--> coefficients --/ step--> integers --range coder--> file
//
// # Use it when, and when not
//
// It suits sounds of a game that are decoded once, as a whole. It cannot seek, has no stereo, and its files are read by
// no other program. A sound that is cut and packed again should be kept in another format.
//
// # Layout
//
//	bytes  content
//	4      SSND
//	1      version, 1
//	1      binary logarithm of the samples of a frame, 6 to 12
//	2      rate in Hz
//	4      samples
//	4      bytes after the header
//	4      CRC-32 (IEEE) of the bytes after the header
//
// Numbers are big-endian. For each frame and band follows a bit that is 0 if all multiples are 0. If it is 1, the
// difference of the step to the band's step before and the multiples follow. Steps are powers of the fourth root of 2.
//
// # Cost
//
// go test -bench Decode ./demo/sound/... prints the time. A decoder allocates some 15 objects of the Go heap and none for
// a frame. Frames of 1,024 samples take 70 KiB.
//
// # Concurrency
//
// A Decoder belongs to one goroutine at a time.
//
// # Errors
//
// ParseHeader and NewDecoder return errors that say what is wrong and what is allowed. Behind a correct checksum every
// sequence of bytes decodes to samples.
//
// # Source
//
// Princen, Johnson and Bradley, "Subband/Transform Coding Using Filter Bank Designs Based on Time Domain Aliasing
// Cancellation" (1987). Martin, "Range encoding" (1979), in the form of LZMA. Terhardt's threshold in quiet (1979).
package codec
