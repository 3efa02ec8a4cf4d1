// The floor of `token-process`: the least that a program can do to send one question over a Unix socket and print the
// answer.
// usage: client SOCKET REQUEST
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc != 3 || strlen(argv[1]) >= sizeof address.sun_path) return 64;
    strcpy(address.sun_path, argv[1]);
    int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(peer, (struct sockaddr *)&address, sizeof address) < 0) return 69;
    size_t length = strlen(argv[2]) + 1; // The NUL ends the message.
    if (send(peer, argv[2], length, MSG_NOSIGNAL) != (ssize_t)length) return 69;
    static char reply[65536];
    size_t filled = 0;
    while (filled < sizeof reply && (filled == 0 || reply[filled - 1] != 0)) {
        ssize_t count = read(peer, reply + filled, sizeof reply - filled);
        if (count <= 0) return 69;
        filled += (size_t)count;
    }
    reply[filled - 1] = '\n';
    return write(1, reply, filled) == (ssize_t)filled ? 0 : 74;
}
