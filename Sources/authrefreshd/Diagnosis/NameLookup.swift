internal import Glibc
internal import RefreshCore

/// Why a host has no address.
enum NameLookupError: Error, Hashable, Sendable {
    case noSuchName
    /// The name server could not be reached, or failed.
    case serverFailed
    case timedOut
    /// Not tried: an earlier look-up has not come back, and each holds a thread.
    case resolverHangs
}

/// Looks up hosts as every program of this machine does, each once.
actor NameLookup {
    /// glibc asks each name server twice for 5 s (resolv.conf(5)): one that is silent need not be waited for to the end.
    static let limit = Duration.seconds(8)

    private var lookups: [String: Task<Result<Int, NameLookupError>, Never>] = [:]
    private var isHanging = false

    /// Whether `host` is an address itself, so that there is nothing to look up.
    static func isAddress(_ host: String) -> Bool {
        var bytes = in6_addr()
        return [AF_INET, AF_INET6].contains { unsafe inet_pton($0, host, &bytes) == 1 }
    }

    /// How many addresses `host` has.
    func addresses(of host: String) async -> Result<Int, NameLookupError> {
        if let lookup = lookups[host] { return await lookup.value }
        guard !isHanging else { return .failure(.resolverHangs) }
        let lookup = Task { () -> Result<Int, NameLookupError> in
            await BlockingCall.result(within: Self.limit) { Self.count(host) } ?? .failure(.timedOut)
        }
        lookups[host] = lookup
        let result = await lookup.value
        if result == .failure(.timedOut) { isHanging = true }
        return result
    }

    private static func count(_ host: String) -> Result<Int, NameLookupError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { return .failure(code == EAI_NONAME ? .noSuchName : .serverFailed) }
        defer { unsafe freeaddrinfo(list) }
        var count = 0
        var next = unsafe list
        while let address = unsafe next {
            count += 1
            unsafe next = address.pointee.ai_next
        }
        return .success(count)
    }
}
