module github.com/strata-go/strata/.ci/soak

go 1.26.0

require (
	github.com/strata-go/strata v0.0.0
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/strata-go/strata => ../..
