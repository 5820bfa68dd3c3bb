#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# C: make -j, and CMake with ccache, whose cache stays in the private home. Prints how long a build takes inside and outside.
. "$(dirname "$0")/support/lib.sh"
need gcc make cmake ccache

# 24 modules with a little to compile, a library and a program that uses all of them.
mkdir src
for ((i = 0; i < 24; i++)); do
	cat >"src/module$i.c" <<-END
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
	int module$i(int seed)
	{
		int values[64];
		for (int i = 0; i < 64; i++)
			values[i] = (seed * (i + $i)) % 97;
		qsort(values, 64, sizeof values[0], compare);
		return values[32];
	}
	END
done
{
	echo '#include <stdio.h>'
	printf 'int module%d(int);\n' {0..23}
	echo 'int main(void) { int sum = 0;'
	printf 'sum += module%d(7);\n' {0..23}
	printf '%s\n' 'printf("sum %d\n", sum); return 0; }'
} >src/main.c
cat >Makefile <<'END'
objects := $(patsubst src/%.c,out/%.o,$(wildcard src/*.c))
program: $(objects)
	$(CC) -o $@ $^
out/%.o: src/%.c
	@mkdir -p out
	$(CC) -O2 -Wall -c -o $@ $<
check: program
	./program | grep '^sum '
clean:
	rm -rf out program
END
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(sample C)
enable_testing()
file(GLOB modules src/module*.c)
add_library(modules SHARED ${modules})
add_executable(sample src/main.c)
target_link_libraries(sample modules)
add_test(NAME runs COMMAND sample)
END

milliseconds make -j2 program
outside=$elapsed
wanted=$(./program)
make -s clean
milliseconds "$BERM" run -- make -j2 program
echo "make -j2, 25 files: $outside ms outside, $elapsed ms inside, ratio $(awk "BEGIN { printf \"%.2f\", $elapsed / $outside }")"
works "make check" make -s check
expect_equal "what it computes" "$wanted" "$out"
works_sh "make again does nothing" 'make -q program'
works_sh "make with a job server below" 'make -s clean; printf "all:\n\t+\$(MAKE) -s check\n" >outer.mk; make -s -j2 -f outer.mk'
works_sh "a sanitized build" 'gcc -g -fsanitize=address,undefined -o sanitized src/*.c && ./sanitized'

works_sh "CMake, with ccache" 'cmake -S . -B out-cmake -DCMAKE_C_COMPILER_LAUNCHER=ccache && cmake --build out-cmake -j2 && ctest --test-dir out-cmake'
expect_equal "what the CMake build computes" "$wanted" "$(LD_LIBRARY_PATH=out-cmake ./out-cmake/sample)"
works_sh "a second build from nothing" 'rm -rf out-cmake; ccache -z; cmake -S . -B out-cmake -DCMAKE_C_COMPILER_LAUNCHER=ccache; cmake --build out-cmake -j2; ccache --print-stats'
hits=$(awk '/^(direct|preprocessed)_cache_hit/ { sum += $2 } END { print sum + 0 }' <<<"$out")
expect "the second one comes from ccache ($hits hits)" test "$hits" -ge 25
expect "whose cache is in the private home" test -d "$(private_home)/.cache/ccache"

finish_work
