#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Go: a vendored module, build, vet, test, install; the build cache stays in the private home.
. "$(dirname "$0")/support/lib.sh"
need go

mkdir -p vendor/example.org/left
cat >go.mod <<'END'
module example.org/sample

go 1.18

require example.org/left v1.2.0
END
echo 'example.org/left v1.2.0 h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' >go.sum
printf '# example.org/left v1.2.0\n## explicit; go 1.18\nexample.org/left\n' >vendor/modules.txt
printf 'package left\n\nfunc Double(n int) int { return n * 2 }\n' >vendor/example.org/left/left.go
cat >main.go <<'END'
package main

import (
	"fmt"
	"sync"

	"example.org/left"
)

func compute() int {
	var group sync.WaitGroup
	results := make(chan int, 3)
	for i := 6; i <= 8; i++ {
		group.Add(1)
		go func(n int) { defer group.Done(); results <- left.Double(n) }(i)
	}
	group.Wait()
	close(results)
	sum := 0
	for n := range results {
		sum += n
	}
	return sum
}

func main() { fmt.Println(compute()) }
END
cat >main_test.go <<'END'
package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestCompute(t *testing.T) {
	if compute() != 42 {
		t.Fatal(compute())
	}
}

func TestListeners(t *testing.T) {
	for _, address := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", filepath.Join(t.TempDir(), "socket")}} {
		listener, err := net.Listen(address[0], address[1])
		if err != nil {
			t.Fatal(err)
		}
		go func() { connection, _ := listener.Accept(); connection.Write([]byte("x")); connection.Close() }()
		connection, err := net.Dial(address[0], listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 1)
		if n, _ := connection.Read(buffer); n != 1 {
			t.Fatal("nothing read")
		}
	}
}

func TestHome(t *testing.T) {
	if directory, err := os.UserCacheDir(); err != nil || os.MkdirAll(filepath.Join(directory, "sample"), 0o755) != nil {
		t.Fatal(directory, err)
	}
}
END

works "go build -mod=vendor" go build -mod=vendor -o sample .
expect_equal "what it computes" 42 "$(./sample)"
works "go test" go test -mod=vendor ./...
expect_contains "its tests" "ok" "$out"
works "go test again" go test -mod=vendor ./...
expect_contains "from the cache of the first run" "(cached)" "$out"
home=$(private_home)
expect "the build cache is in the private home" test -d "$home/.cache/go-build"
works_sh "go install, go env -w, into the private home" 'go install -mod=vendor .; go env -w GOFLAGS=-mod=vendor'
works_sh "and it is there the next time" '~/go/bin/sample; go env GOFLAGS'
expect_equal "the installed program and the setting" "42
-mod=vendor" "$out"

finish_work
