module github.com/strata-go/strata/demo/session/testdata

go 1.26.0
