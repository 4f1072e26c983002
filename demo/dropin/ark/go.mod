module github.com/strata-go/strata/demo/dropin/ark

go 1.26.0

require (
	github.com/mlange-42/ark v0.8.0
	github.com/strata-go/strata v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/strata-go/strata => ../../..
