module github.com/strata-go/strata/memory/bench

go 1.26.0

require (
	github.com/strata-go/strata v0.0.0
	golang.org/x/sys v0.49.0
	modernc.org/memory v1.12.1
)

replace github.com/strata-go/strata => ../..
