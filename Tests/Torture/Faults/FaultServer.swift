internal import DemoIssuer
internal import TextEncodings

/// An authorization server with its own name and fault.
struct FaultServer: Sendable {
    /// The first port for the servers of the table. In a network namespace of its own all ports are free.
    private static let firstPort = 20_000
    /// The domain of all servers. Their certificates are for `DNS:*.faults.test`.
    static let domain = "faults.test"
    static let certificateNames = "DNS:*.\(domain)"

    let row: FaultRow
    let issuer: DemoIssuer
    let url: String
    private let host: String
    private let door: Door
    private let names: NameServer
    private let now: @Sendable () -> Duration

    /// - Parameters:
    ///   - number: the server's number, from 0, different for each server of the run.
    ///   - lifetime: the lifetime of its access tokens.
    ///   - now: its time since 1970.
    init(
        _ row: FaultRow,
        number: Int,
        lifetime: Duration,
        now: @escaping @Sendable () -> Duration,
        _ certificates: Certificates,
        _ names: NameServer
    ) async throws {
        let door = Door(certificates)
        host = "server\(number).\(Self.domain)"
        var configuration = IssuerConfiguration(
            clients: [DemoClient(id: "app")],
            policy: GrantPolicy(accessTokenLifetime: lifetime, gracePeriod: row.grace),
            port: Self.firstPort + number,
            now: now
        )
        if row.isSecure {
            configuration.issuer = "https://\(host):\(configuration.port)"
            configuration.prepareConnection = door.receive
        }
        issuer = DemoIssuer(configuration: configuration)
        url = try await issuer.start()
        self.row = row
        self.door = door
        self.names = names
        self.now = now
        names.set(host, .loopback)
    }

    func breakDown() async throws {
        switch row.trouble {
        case .endpoint(let fault, let times): try await issuer.script(fault, times: times)
        case .retryDate(let wait):
            let date = HTTPDate.format(Int((now() + wait).components.seconds))
            try await issuer.script(.answer(CannedAnswer(status: 503, headers: ["Retry-After": date])), times: nil)
        case .door(let reception): door.set(reception)
        case .name(let answer): names.set(host, answer)
        case .clock(let offset): await issuer.setDateOffset(offset)
        }
    }

    func recover() async {
        await issuer.clearFaults()
        door.set(.open)
        names.set(host, .loopback)
        await issuer.setDateOffset(.zero)
    }
}
