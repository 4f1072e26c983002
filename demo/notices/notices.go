// Package notices contains the licences of third-party code that the game links on any of its systems: Go with its
// standard library, and modules. The demo prints them (-notices), and its page has them as NOTICES.txt.
//
//	go generate ./demo/notices    writes NOTICES.txt from the packages that ./demo links
//
// A test of the generator compares the file with the output of the generator.
package notices

import _ "embed"

//go:generate go run ./gen -out NOTICES.txt

// Text is the content of NOTICES.txt.
//
//go:embed NOTICES.txt
var Text string
