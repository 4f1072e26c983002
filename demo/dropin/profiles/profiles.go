// Package profiles serves profiles of the memory of a manager over HTTP, for servers without a screen:
//
//	go run ./demo/dropin/headless -http :6060 &
//	go tool pprof -top http://localhost:6060/debug/pprof/strata
//
// It is off until the flag gives an address. An address without a host is on the loopback interface.
package profiles

import (
	"bytes"
	"flag"
	"log"
	"net"
	"net/http"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

// SampleBytes is a tiers.Config.SampleBytes for a program that serves profiles.
const SampleBytes = 64 << 10

// Requests pass requests for a profile to the goroutine that the manager belongs to. From nil nothing can be received.
type Requests chan chan []byte

// Flag defines the flag -http of a program and returns what it receives.
func Flag(f *flag.FlagSet) Requests {
	p := make(Requests)
	f.Func("http", "serve profiles at this `ADDRESS`, to this machine only unless it has a host", p.Listen)
	return p
}

// Listen serves profiles at /debug/pprof/strata until the program ends. It returns the error of net.Listen.
func (p Requests) Listen(addr string) error {
	if host, port, err := net.SplitHostPort(addr); err == nil && host == "" {
		addr = net.JoinHostPort("localhost", port)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /debug/pprof/strata", p)
	go func() { log.Print(http.Serve(l, mux)) }()
	return nil
}

// ServeHTTP waits for Answer, or until the client has gone.
func (p Requests) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := make(chan []byte, 1)
	select {
	case p <- answer:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(<-answer)
	case <-r.Context().Done():
	}
}

// Answer writes a profile for one request. The goroutine of the manager calls it. It returns the error of
// meter.WriteProfile.
func Answer(to chan<- []byte, m *tiers.Manager) error {
	var b bytes.Buffer
	err := meter.WriteProfile(&b, m)
	to <- b.Bytes()
	return err
}
