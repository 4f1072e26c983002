module github.com/strata-go/strata/assets/shots

go 1.26.0
