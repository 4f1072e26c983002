module github.com/strata-go/strata/.ci/profile

go 1.26.0

require (
	github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50
	github.com/strata-go/strata v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/strata-go/strata => ../..
