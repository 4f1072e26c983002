module github.com/strata-go/strata/demo/dropin/terminal

go 1.26.0

require (
	github.com/gdamore/tcell/v2 v2.8.1
	github.com/strata-go/strata v0.0.0
)

require (
	github.com/gdamore/encoding v1.0.1 // indirect
	github.com/lucasb-eyer/go-colorful v1.2.0 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/rivo/uniseg v0.4.3 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.28.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/strata-go/strata => ../../..
