internal import DemoIssuer

/// An authorization server with a name of its own, and what goes wrong with it.
struct FaultServer: Sendable {
    /// Servers of the table take the ports from here on: in a network namespace of its own all are free.
    private static let firstPort = 20_000
    /// All names of servers end in this; their certificates are for `DNS:*.faults.test`.
    static let domain = "faults.test"
    static let certificateNames = "DNS:*.\(domain)"

    let row: FaultRow
    let issuer: DemoIssuer
    let url: String
    private let host: String
    private let door: Door
    private let names: NameServer

    /// - Parameters:
    ///   - number: counted from 0, another one for each server of the run.
    ///   - lifetime: of its access tokens.
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
