// The floor of `serve`: the least that a program can do to answer one question for each connection over a Unix socket.
// usage: server SOCKET REPLY     prints "ready" when it listens
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc != 3 || strlen(argv[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 256) < 0) return 69;
    puts("ready");
    fflush(stdout);
    size_t length = strlen(argv[2]) + 1;
    for (;;) {
        int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (peer < 0) continue;
        char request[4096];
        size_t filled = 0;
        while (filled < sizeof request && (filled == 0 || request[filled - 1] != 0)) {
            ssize_t count = read(peer, request + filled, sizeof request - filled);
            if (count <= 0) break;
            filled += (size_t)count;
        }
        if (filled > 0 && request[filled - 1] == 0) send(peer, argv[2], length, MSG_NOSIGNAL);
        close(peer);
    }
}
