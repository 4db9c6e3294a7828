module winjoin.test/hnslib

go 1.22.0

require github.com/Microsoft/hnslib v0.1.3

require (
	github.com/Microsoft/go-winio v0.6.2 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	golang.org/x/sys v0.24.0 // indirect
)

tool github.com/Microsoft/hnslib/hcn
