module github.com/strata-go/strata/demo/web/brotli

go 1.26.0

require github.com/andybalholm/brotli v1.2.1
