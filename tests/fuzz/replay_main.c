/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target once over each file given, or over each file of each directory given, for
 * builds without libFuzzer: the seeds and every input that once crashed stay regression tests. It
 * never mutates an input. No input at all is a failure, so that an empty directory cannot pass for
 * a test. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT_BYTES = 16 << 20, PATH_BYTES = 4096 };

static int input_failed(const char *path)
{
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return -1;
}

/* The input goes into a block of exactly its size, so that a read past its end is seen by ASan and
 * valgrind. */
static int replay_file(const char *path, size_t size)
{
	if (size > MAX_INPUT_BYTES) {
		errno = EFBIG;
		return input_failed(path);
	}
	FILE *file = fopen(path, "rb");
	if (!file)
		return input_failed(path);
	uint8_t *data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, file) != size) {
		input_failed(path);
		free(data);
		fclose(file);
		return -1;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

/* Returns the number of inputs run, or -1. */
static int replay_path(const char *path);

static int replay_directory(const char *path)
{
	DIR *directory = opendir(path);
	if (!directory)
		return input_failed(path);
	int total = 0;
	const struct dirent *entry;
	while (total >= 0 && (entry = readdir(directory))) {
		char child[PATH_BYTES];
		if (entry->d_name[0] == '.')
			continue;
		int length = snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
		if (length < 0 || (size_t)length >= sizeof(child)) {
			errno = ENAMETOOLONG;
			total = input_failed(path);
			break;
		}
		int count = replay_path(child);
		total = count < 0 ? -1 : total + count;
	}
	closedir(directory);
	return total;
}

static int replay_path(const char *path)
{
	struct stat status;
	if (stat(path, &status) < 0)
		return input_failed(path);
	if (S_ISDIR(status.st_mode))
		return replay_directory(path);
	return replay_file(path, (size_t)status.st_size) < 0 ? -1 : 1;
}

int main(int argc, char **argv)
{
	int total = 0;
	for (int i = 1; i < argc; i++) {
		int count = replay_path(argv[i]);
		if (count < 0)
			return EXIT_FAILURE;
		total += count;
	}
	printf("%d inputs\n", total);
	return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
