/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each file named on the command line to a fuzz harness, cut at several lengths too: what a
 * fuzzer found once stays found without a fuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes end at a page that cannot be read, so that one byte too far is a crash. */
static void replay(const char *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (size + page - 1) / page * page;
	char *at =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + room, page, PROT_NONE) != 0) {
		perror("replay: memory");
		exit(1);
	}
	if (size)
		memcpy(at + room - size, bytes, size);
	LLVMFuzzerTestOneInput((const uint8_t *)(at + room - size), size);
	munmap(at, room + page);
}

/* The whole file; the caller frees. NULL: it cannot be read. */
static char *load(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rbe");
	char *bytes = NULL;
	long end;

	if (!file)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0) {
		rewind(file);
		bytes = malloc((size_t)end + 1);
		if (bytes && fread(bytes, 1, (size_t)end, file) != (size_t)end) {
			free(bytes);
			bytes = NULL;
		}
		*size = (size_t)end;
	}
	fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t size = 0;
		char *bytes = load(argv[i], &size);

		if (!bytes) {
			perror(argv[i]);
			return 1;
		}
		/* The last name on stderr is the file that a crash is about. */
		fprintf(stderr, "%s\n", argv[i]);
		replay(bytes, size);
		for (size_t part = 0; part < 16; part++)
			replay(bytes, size * part / 16);
		free(bytes);
	}
	return 0;
}
