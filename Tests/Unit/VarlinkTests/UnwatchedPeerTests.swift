import Glibc
import Synchronization
import Testing

@testable import Varlink

/// A peer that the kernel does not let us watch.
struct UnwatchedPeerTests {
    private static let configuration = VarlinkServerConfiguration(endpoint: .path("/nowhere"))
    private static let service = VarlinkService(
        info: ServiceInfo(vendor: "Test", product: "Unwatched", version: "1", url: "https://service.example/"),
        interfaces: [:]
    ) { _, _, _ in }

    /// A pair of sockets: our end and the peer's.
    private static func socketPair() throws -> (ours: Int32, peers: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func `an unwatchable peer is turned away, which is reported once, and the server continues`() throws {
        let told = Mutex<[Int32]>([])
        var configuration = Self.configuration
        configuration.observe = { event in
            if case .acceptFailed(.cannotAccept(let errno)) = event { told.withLock { $0.append(errno) } }
        }
        let loop = try SocketLoop()
        let server = SocketServer(configuration: configuration, service: Self.service, loop: loop)
        let registry = ConnectionRegistry(configuration: configuration, service: Self.service, loop: loop)
        for number in UInt64(2)...3 {
            let (ours, peers) = try Self.socketPair()
            defer { close(peers) }
            // A descriptor that is already watched cannot be watched again. This is the simplest way to make the kernel
            // refuse.
            try loop.watch(ours, key: 99, for: .input)
            let link = ConnectionLink(server, number: number, peer: PeerCredentials(of: ours))
            Connection(ours, registry: registry, link: link).begin()
            #expect(registry.count == 1)
            // One turn in which it may close, and the turn in which it would be watched.
            registry.settle()
            #expect(registry.count == 1)
            registry.settle()
            #expect(registry.count == 0)
            var byte: UInt8 = 0
            #expect(unsafe read(peers, &byte, 1) == 0)
        }
        #expect(told.withLock(\.self) == [EEXIST])
    }

    @Test func `a listening socket that cannot be watched fails the start`() throws {
        let loop = try SocketLoop()
        let listener = Listener(configuration: Self.configuration, loop: loop)
        let (ours, peers) = try Self.socketPair()
        defer { close(peers) }
        try loop.watch(ours, key: 99, for: .input)
        let socket = ServerSocket(descriptor: ours, path: nil, identity: nil, ownsPath: false)
        #expect(throws: VarlinkServerError.cannotAccept(errno: EEXIST)) { try listener.open(socket) }
        #expect(!listener.isPathIntact)
    }
}
