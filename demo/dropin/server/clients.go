package main

import (
	"encoding/binary"
	"hash/crc64"

	"github.com/strata-go/strata/engine"
)

// latest is how many ticks a packet may take to its client and the answer back.
const latest = 12

// clients are the other end of the connections. They write into buffers that they keep, so that whatever a run
// allocates is the server's.
type clients struct {
	all  [clientCount]simulated
	sum  uint64 // of every packet
	lost int
}

// A simulated client sends inputs, and the tick of what has arrived.
type simulated struct {
	rand     engine.Rand
	arrived  [latest]uint32 // by the tick of the server modulo latest; 0 is lost
	latency  int            // there and back
	acked    uint32
	packet   [64]byte
	received []byte
}

func newClients(seed uint64) *clients {
	n := &clients{}
	for i := range n.all {
		c := &n.all[i]
		c.rand = engine.NewRand(seed, uint64(1000+i))
		c.latency = 2 + c.rand.Intn(latest-2)
		c.received = make([]byte, 0, 64<<10)
	}
	return n
}

// packet returns what client i sends before a tick.
func (n *clients) packet(i int, tick uint32) []byte {
	c := &n.all[i]
	if t := c.arrived[(int(tick)+latest-c.latency)%latest]; t > c.acked {
		c.acked = t
	}
	b := binary.AppendUvarint(c.packet[:0], uint64(c.acked))
	v := c.rand.Uint32()
	if v%4 == 0 {
		b = append(b, 'i', byte(int8(v>>8%5)-2), byte(int8(v>>12%5)-2), byte(v>>16&15), byte(v>>20&3/3))
	}
	if v>>24 == 7 {
		b = append(b, 'c', byte(8+v>>8&31))
		for k := 0; k < int(8+v>>8&31); k++ {
			b = append(b, 'a'+byte(k%26))
		}
	}
	if v%4096 == 4095 {
		b = append(b, 'x') // not a message
	}
	return b
}

// deliver is the writer of connection i: it copies a packet, as a socket does, and one of sixteen is lost.
func (n *clients) deliver(i int, tick uint32, packet []byte) {
	c := &n.all[i]
	c.received = append(c.received[:0], packet...)
	c.arrived[tick%latest] = tick
	if c.rand.Intn(16) == 0 {
		c.arrived[tick%latest] = 0
		n.lost++
	}
}

// rejoin has another player come on connection i.
func (n *clients) rejoin(i int) {
	n.all[i].arrived, n.all[i].acked = [latest]uint32{}, 0
}

var table = crc64.MakeTable(crc64.ECMA)

// check adds what has arrived to the sum.
func (n *clients) check() {
	for i := range n.all {
		n.sum = crc64.Update(n.sum, table, n.all[i].received)
	}
}
