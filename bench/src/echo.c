/* The least a server can do over two pipes: wait for a line, answer with a line of a given length. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char input[1 << 16];

int main(int argc, char **argv) {
  size_t length = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  char *answer = malloc(length);
  if (length == 0 || answer == NULL) return 2;
  memset(answer, 'x', length);
  answer[length - 1] = '\n';
  for (;;) {
    ssize_t n_read = read(0, input, sizeof input);
    if (n_read <= 0) return 0;
    if (memchr(input, '\n', (size_t)n_read) == NULL) continue;
    for (size_t done = 0; done < length;) {
      ssize_t n_written = write(1, answer + done, length - done);
      if (n_written <= 0) return 1;
      done += (size_t)n_written;
    }
  }
}
