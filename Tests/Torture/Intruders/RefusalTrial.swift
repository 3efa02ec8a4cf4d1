internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// Checks that the words of a refusal reveal nothing, and shows how long refusals take.
struct RefusalTrial {
    /// A caller of one kind.
    private struct Row {
        let who: String
        let caller: RefusedCaller
        /// The calls, with their descriptions. All must be refused in the same way.
        let asked: [(what: String, call: String)]
        let refusal: String
    }

    let stage: DaemonStage
    let issuer: DemoIssuer
    /// How often each call is made.
    let rounds: Int

    /// Makes accounts in different states, all allowed only for a unit that does not exist.
    static func prepare(_ stage: DaemonStage, _ issuer: DemoIssuer, _ url: String) async throws {
        for name in ["valid", "ended"] {
            let grant = try await issuer.issueGrant(clientID: "app")
            // The end of a grant whose token was replaced a moment ago would be asked about once more.
            if name == "ended" { try await issuer.revokeGrant(grant.family) }
            try await stage.add(name, issuer: url, grant: grant)
            _ = try? await stage.acquire(name)
        }
        try await stage.add("empty", issuer: url)
        for (name, state) in [("valid", "fresh"), ("ended", "interaction-required"), ("empty", "signed-out")] {
            let found = try await stage.status(name).state
            guard found == state else { throw TestFault.unreadable("\(name) is \(found), not \(state)") }
            let edit = try await stage.authctl("account", "edit", name, "--allow-unit", "no-such-unit.service", "--yes")
            guard edit.end == .exited(0) else { throw TestFault.failed(program: "authctl", errors: edit.errors) }
        }
    }

    /// - Returns: the rows of the table.
    func run(_ checks: Checks) async throws -> [[String]] {
        var cells: [[String]] = []
        for row in Self.rows {
            let sequence = await issuer.lastSequence
            let heard = try await row.caller.hear(row.asked.map(\.call), rounds: rounds, at: stage.socket)
            let answers = heard.reduce(into: Set<String>()) { $0.formUnion($1.answers) }
            var surprises = answers.count == 1 ? [] : ["it is told more than one thing: \(answers)"]
            if !(answers.first ?? "").contains(row.refusal) { surprises.append("it is told: \(answers)") }
            let asked = await issuer.entries(after: sequence)
            if !asked.isEmpty { surprises.append("the server was asked: \(asked)") }
            checks.add("\(row.who) is refused alike, and at once, whatever there is to refuse", surprises: surprises)
            for (asked, hearing) in zip(row.asked, heard) {
                let numbers = [hearing.tenth, hearing.median, hearing.ninetieth].map { "\(Int($0)) µs" }
                cells.append([row.who, asked.what] + numbers)
            }
        }
        return cells
    }

    static let header = ["who", "asks for", "10 of 100", "median", "90 of 100"]

    private static var rows: [Row] {
        let tokens = [
            ("a token that is valid", token("valid")), ("one of an account that needs a person", token("ended")),
            ("one of an account that is signed out", token("empty")),
        ]
        let others =
            tokens + [
                ("one of an account that does not exist", token("nobody")),
                ("the state of all", #"{"method":"io.authrefresh.GetStatus"}"#), ("nothing, and listens", ""),
            ]
        return [
            Row(
                who: "another user",
                caller: RefusedCaller(wrapper: Onlookers.asUser),
                asked: others,
                refusal: "PermissionDenied"
            ),
            Row(
                who: "root of another user namespace",
                caller: RefusedCaller(wrapper: Onlookers.asUser + ["/usr/bin/unshare", "-U", "-r"]),
                asked: others,
                refusal: "PermissionDenied"
            ),
            // Every program of this user may ask whether an account exists, and for its state.
            Row(
                who: "a program outside the list",
                caller: RefusedCaller(),
                asked: tokens,
                refusal: "'NAME' is for the unit 'no-such-unit.service' only"
            ),
        ]
    }

    private static func token(_ account: String) -> String {
        #"{"method":"io.authrefresh.AcquireToken","parameters":{"account":"\#(account)"}}"#
    }
}
