package ecs

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/strata-go/strata/memory/tlsf"
)

// BenchmarkBinary writes and reads 100,000 entities of two components. The binary form takes turns with a file that is
// synced, and with gob of the same slices or JSON. It prints the lower quartile of the binary form, and the ratios of
// the others to it. The ratio of a second binary write or read shows the noise.
func BenchmarkBinary(b *testing.B) {
	b.Run("peer=gob", func(b *testing.B) { benchBinary(b, 1, false) })
	b.Run("peer=gob/order=mixed", func(b *testing.B) { benchBinary(b, 7919, false) })
	b.Run("peer=JSON", func(b *testing.B) { benchBinary(b, 1, true) })
}

// benchBinary compares the forms. Each entity has a slot that is step above that of the entity before.
func benchBinary(b *testing.B, step int, asJSON bool) {
	const rows = 100_000
	heap, err := tlsf.New(nil, tlsf.Config{Reserve: 64 << 20})
	must := func(errs ...error) {
		if err := errors.Join(errs...); err != nil {
			b.Fatal(err)
		}
	}
	must(err)
	w, err := New(heap, Config{})
	must(err)
	r, err := New(heap, Config{})
	must(err)
	both, _ := NewMap2[position, health](w), NewMap2[position, health](r)
	es := make([]Entity, rows)
	for i := range es {
		es[i], err = w.NewEntity()
		must(err)
	}
	var positions []position
	var healths []health
	for i := range es {
		positions = append(positions, position{float32(i) / 7, -float32(i) * 3})
		healths = append(healths, health{int32(i), 100})
		must(both.Add(es[i*step%rows], positions[i], healths[i]))
	}
	var binary, peer bytes.Buffer
	write := func(out *bytes.Buffer) func() error {
		out.Reset()
		return func() error { return w.WriteBinary(out) }
	}
	file, err := os.Create(b.TempDir() + "/world")
	must(err)
	defer file.Close()
	times := map[string][]time.Duration{}
	timed := func(name string, f func() error) {
		runtime.GC() // so that none pays for the garbage of another
		began := time.Now()
		must(f())
		times[name] = append(times[name], time.Since(began))
	}
	read := func() error { return r.ReadBinary(bytes.NewReader(binary.Bytes()), nil) }
	for b.Loop() {
		peer.Reset()
		timed("write", write(&binary))
		if asJSON {
			timed("write-JSON", func() error { return w.WriteJSON(&peer) })
		} else {
			timed("write-gob", func() error {
				enc := gob.NewEncoder(&peer)
				return errors.Join(enc.Encode(positions), enc.Encode(healths))
			})
		}
		timed("write-again", write(&binary))
		timed("read", read)
		r.Reset()
		if asJSON {
			timed("read-JSON", func() error { return r.ReadJSON(bytes.NewReader(peer.Bytes())) })
			r.Reset()
		} else {
			timed("read-gob", func() error {
				dec := gob.NewDecoder(bytes.NewReader(peer.Bytes()))
				return errors.Join(dec.Decode(&positions), dec.Decode(&healths))
			})
		}
		timed("read-again", read)
		r.Reset()
		_, err := file.Seek(0, io.SeekStart)
		must(err, file.Truncate(0))
		timed("write-synced", func() error { return errors.Join(w.WriteBinary(file), file.Sync()) })
		_, err = file.Seek(0, io.SeekStart)
		must(err)
		timed("read-file", func() error { return r.ReadBinary(file, nil) })
		r.Reset()
	}
	quartile := func(name string) float64 {
		slices.Sort(times[name])
		return float64(times[name][len(times[name])/4])
	}
	for _, op := range []string{"write", "read"} {
		one := quartile(op)
		b.ReportMetric(one/1e6, op+"-ms")
		for _, other := range []string{"again", "synced", "file", "gob", "JSON"} {
			if name := op + "-" + other; times[name] != nil {
				b.ReportMetric(quartile(name)/one, name)
			}
		}
	}
	must(r.Close(), w.Close(), heap.Close())
}
