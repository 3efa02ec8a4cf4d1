internal import DemoIssuer

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

    /// - Parameters:
    ///   - number: the server's number, from 0, different for each server of the run.
    ///   - lifetime: the lifetime of its access tokens.
    init(
        _ row: FaultRow,
        number: Int,
        lifetime: Duration,
        _ certificates: Certificates,
        _ names: NameServer
    ) async throws {
        let door = Door(certificates)
        host = "server\(number).\(Self.domain)"
        var configuration = IssuerConfiguration(
            clients: [DemoClient(id: "app")],
            policy: GrantPolicy(accessTokenLifetime: lifetime, gracePeriod: row.grace),
            port: Self.firstPort + number
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
        names.set(host, .loopback)
    }

    func breakDown() async throws {
        switch row.trouble {
        case .endpoint(let fault, let times): try await issuer.script(fault, times: times)
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
