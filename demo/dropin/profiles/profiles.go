// Package profiles serves profiles of the memory of a manager over HTTP, for servers without a screen:
//
//	go run ./demo/dropin/headless -http :6060                    # in one terminal
//	go tool pprof -top http://localhost:6060/debug/pprof/strata  # in another one
//
// Without the flag -http it serves nothing. For an address without a host it listens on the loopback interface.
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

// SampleBytes is a value for tiers.Config.SampleBytes in a program that serves profiles.
const SampleBytes = 64 << 10

// Requests pass requests for a profile to the goroutine that owns the manager. That goroutine receives from the
// channel and calls [Answer] once for each request. A receive from nil Requests blocks forever.
type Requests chan chan []byte

// Flag defines the flag -http in f. When f parses the flag, it calls [Requests.Listen] with the flag's value. Flag
// returns the channel of the requests. Without the flag on the command line no request arrives.
func Flag(f *flag.FlagSet) Requests {
	p := make(Requests)
	f.Func("http", "serve profiles at this `ADDRESS`, to this machine only unless it has a host", p.Listen)
	return p
}

// Listen starts a goroutine that serves profiles at /debug/pprof/strata until the program ends. If addr has no host, it
// listens on the loopback interface. Listen does not wait for the goroutine. The error is the error of net.Listen.
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

// ServeHTTP sends a request to p, waits for its [Answer] and writes the profile. If the client disconnects before the
// request is received from p, ServeHTTP returns. After that ServeHTTP waits for the Answer in any case.
func (p Requests) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := make(chan []byte, 1)
	select {
	case p <- answer:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(<-answer)
	case <-r.Context().Done():
	}
}

// Answer sends a profile of m to the channel `to`, which was received from [Requests]. Call Answer on the goroutine of
// the manager. The first Answer to a channel does not block. If meter.WriteProfile fails, Answer sends the part that was
// written and returns the error.
func Answer(to chan<- []byte, m *tiers.Manager) error {
	var b bytes.Buffer
	err := meter.WriteProfile(&b, m)
	to <- b.Bytes()
	return err
}
