// Asks a Unix socket for tokens, a new connection for each, as many clients at once as wanted. One thread serves them
// all, so that as little of the machine as possible goes to asking.
// usage: load SOCKET CLIENTS MILLISECONDS HEAD TAIL ACCOUNTS
// The request is HEAD, the number of an account (seven digits, drawn from 0..<ACCOUNTS), TAIL, NUL. Prints, on one line:
// requests answered, ns that took, median and 99th percentile of one request in ns. Status 1 if a request failed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { mostClients = 256, mostRequests = 1 << 24, replyBytes = 16384 };

struct client {
    int peer;
    uint64_t from;
    size_t filled;
    char reply[replyBytes];
};

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static const char *head, *tail;
static uint64_t accounts, seed = 88172645463325252;
static struct client clients[mostClients];
static uint32_t *took;
static size_t answered;
static int queue;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t draw(void) { // xorshift64
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int begin(struct client *client) {
    char request[4096];
    uint64_t account = accounts > 1 ? draw() % accounts : 0;
    int length = snprintf(request, sizeof request, "%s%07llu%s", head, (unsigned long long)account, tail) + 1;
    client->from = now();
    client->filled = 0;
    client->peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return client->peer >= 0 && connect(client->peer, (struct sockaddr *)&address, sizeof address) == 0 &&
           send(client->peer, request, (size_t)length, MSG_NOSIGNAL) == length;
}

// Reads what is there. Waits for at least one byte. Returns 1 if the reply is complete, 0 if more is to come.
static int take(struct client *client) {
    static const char expected[] = "{\"parameters\":{\"accessToken\":";
    ssize_t count = read(client->peer, client->reply + client->filled, replyBytes - client->filled);
    if (count <= 0) return -1;
    client->filled += (size_t)count;
    if (client->reply[client->filled - 1] != 0) return 0;
    close(client->peer);
    if (answered < mostRequests) took[answered++] = (uint32_t)(now() - client->from);
    int isGood = client->filled > sizeof expected && memcmp(client->reply, expected, sizeof expected - 1) == 0;
    return isGood ? 1 : -1;
}

static int askAlone(uint64_t end) {
    while (now() < end) {
        int state = begin(&clients[0]) ? 0 : -1;
        while (state == 0) state = take(&clients[0]);
        if (state < 0) return 1;
    }
    return 0;
}

static int watch(struct client *client) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    return begin(client) && epoll_ctl(queue, EPOLL_CTL_ADD, client->peer, &event) == 0;
}

static int askTogether(int count, uint64_t end) {
    queue = epoll_create1(EPOLL_CLOEXEC);
    int open = count;
    for (int i = 0; i < count; i++)
        if (!watch(&clients[i])) return 1;
    while (open > 0) {
        struct epoll_event events[mostClients];
        int ready = epoll_wait(queue, events, mostClients, 10000);
        if (ready <= 0) return 1;
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            int state = take(client);
            if (state < 0) return 1;
            if (state == 0) continue;
            if (now() >= end) open--;
            else if (!watch(client)) return 1;
        }
    }
    return 0;
}

static int compare(const void *first, const void *second) {
    uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    if (argc != 7 || strlen(argv[1]) >= sizeof address.sun_path || strlen(argv[4]) + strlen(argv[5]) > 4000) return 64;
    strcpy(address.sun_path, argv[1]);
    int count = atoi(argv[2]);
    if (count < 1 || count > mostClients) return 64;
    head = argv[4], tail = argv[5], accounts = strtoull(argv[6], NULL, 10);
    took = malloc(mostRequests * sizeof *took); // Address space: pages come as they are used.
    if (took == NULL) return 71;
    uint64_t from = now(), end = from + strtoull(argv[3], NULL, 10) * 1000000;
    if ((count == 1 ? askAlone(end) : askTogether(count, end)) != 0 || answered == 0) return 1;
    uint64_t lasted = now() - from;
    qsort(took, answered, sizeof *took, compare);
    printf("%zu %llu %u %u\n", answered, (unsigned long long)lasted, took[answered / 2], took[answered * 99 / 100]);
    return 0;
}
