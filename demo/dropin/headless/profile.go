package main

import (
	"bytes"
	"flag"
	"log"
	"net"
	"net/http"

	"github.com/strata-go/strata/memory/meter"
	"github.com/strata-go/strata/memory/tiers"
)

// profiles pass requests for a profile to the goroutine that the manager belongs to.
type profiles chan chan []byte

// profileFlag defines the flag -http:
//
//	go run ./demo/dropin/headless -http :6060 &
//	go tool pprof -top http://localhost:6060/debug/pprof/strata
func profileFlag() profiles {
	p := make(profiles)
	flag.Func("http", "serve profiles at this `ADDRESS`, to this machine only unless it has a host", p.listen)
	return p
}

// listen serves profiles at /debug/pprof/strata until the program ends. An address without a host is on the loopback
// interface.
func (p profiles) listen(addr string) error {
	if host, port, err := net.SplitHostPort(addr); err == nil && host == "" {
		addr = net.JoinHostPort("localhost", port)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/strata", p.serve)
	go func() { log.Print(http.Serve(l, mux)) }()
	return nil
}

func (p profiles) serve(w http.ResponseWriter, r *http.Request) {
	answer := make(chan []byte, 1)
	select {
	case p <- answer:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(<-answer)
	case <-r.Context().Done():
	}
}

// answer writes a profile for one request. The game goroutine calls it.
func answer(to chan<- []byte, m *tiers.Manager) error {
	var b bytes.Buffer
	err := meter.WriteProfile(&b, m)
	to <- b.Bytes()
	return err
}
