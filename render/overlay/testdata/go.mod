module github.com/strata-go/strata/render/overlay/testdata

go 1.26.0
