// The second floor of `serve`: the most questions that one thread of C answers. It reads no JSON, asks for no credentials, and takes in
// all callers that wait before it answers them together, so that many callers wake at once.
// usage: batch_server SOCKET REPLY     prints "ready" when it listens
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { mostPeers = 64 };

// Returns 1 if the peer has sent a whole request.
static int hasAsked(int peer) {
    char request[4096];
    size_t filled = 0;
    while (filled < sizeof request && (filled == 0 || request[filled - 1] != 0)) {
        ssize_t count = recv(peer, request + filled, sizeof request - filled, 0);
        if (count <= 0) return 0;
        filled += (size_t)count;
    }
    return request[filled - 1] == 0;
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc != 3 || strlen(argv[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 256) < 0) return 69;
    puts("ready");
    fflush(stdout);
    size_t length = strlen(argv[2]) + 1;
    for (;;) {
        int peers[mostPeers], count = 0, peer;
        while (count < mostPeers && (peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
            if (hasAsked(peer)) peers[count++] = peer;
            else close(peer);
        }
        for (int i = 0; i < count; i++) {
            send(peers[i], argv[2], length, MSG_NOSIGNAL);
            close(peers[i]);
        }
        struct pollfd waiting = {.fd = listener, .events = POLLIN};
        if (count == 0) poll(&waiting, 1, -1);
    }
}
