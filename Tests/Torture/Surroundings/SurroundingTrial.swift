internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// One fault in the daemon's surroundings. During the fault, the daemon still gives the tokens that it has, and says
/// what is wrong. After the fault, everything works again without help.
struct SurroundingTrial {
    /// The time limit for anything that the daemon must notice.
    private static let patience = Duration.patience

    let row: Surrounding

    /// - Returns: what was not as expected, and what was observed, as a row of the table.
    func run() async throws -> (surprises: [String], cells: [String]) {
        let scene = try await SurroundingStage()
        try await row.prepare(scene)
        try await scene.start()
        let pid = try scene.daemon.pid
        let grant = try await scene.issuer.issueGrant(clientID: "app")
        try await scene.stage.add("work", issuer: scene.url, grant: grant)
        let token = try await scene.stage.acquire("work")
        var seen = Sightings()

        let told = scene.stage.notify.messages.count
        try await row.breakDown(scene)
        let served = try await scene.stage.authctl("token", "work")
        seen.expect(served.output == token.accessToken, "authctl token: \(served)")
        let refresh = try await scene.stage.authctl("refresh", "work")
        seen.expect(row.refresh.contains { refresh.end == .exited($0) }, "authctl refresh: \(refresh)")
        // If the daemon does not notice the fault at once, it does at the next call.
        if let log = row.told.log { await seen.wait(for: log, in: try scene.daemon.errors, Self.patience) }
        if let line = row.told.manager {
            await seen.wait(for: line, in: scene.stage.notify.messages, from: told, Self.patience)
        }
        let status = try await scene.stage.authctl("status")
        if let text = row.told.status {
            seen.expect((status.output + status.errors).contains(text), "status: \(status)")
        }
        let doctor = try await scene.stage.authctl("doctor")
        if let text = row.told.doctor { seen.expect(doctor.output.contains(text), "doctor: \(doctor.output)") }

        try await row.mend(scene)
        if let log = row.told.recovery { await seen.wait(for: log, in: try scene.daemon.errors, Self.patience) }
        try await expectWell(scene, &seen)
        seen.expect(try row.endsDaemon || scene.daemon.pid == pid, "it is another daemon")
        let end = try await scene.end()
        seen.expect(end == .exited(0), "the daemon's end: \(end)")
        let cells = [
            row.name, served.output == token.accessToken ? "served" : "not served",
            refresh.end == .exited(0) ? "goes on" : "waits", row.told.status ?? "-",
            Self.advice(in: doctor.output, on: row.told.doctor),
            !seen.surprises.isEmpty ? "no" : row.endsDaemon ? "at the next start" : "by itself",
        ]
        return (seen.surprises, cells)
    }

    static let header = ["what is gone", "valid token", "refreshing", "authctl status", "authctl doctor", "well again"]

    /// Expects a new token, no report of a fault, and no refresh token that was sent twice.
    private func expectWell(_ scene: SurroundingStage, _ seen: inout Sightings) async throws {
        let refresh = try await scene.stage.authctl("refresh", "work")
        seen.expect(refresh.end == .exited(0), "authctl refresh afterwards: \(refresh)")
        let status = try await scene.stage.authctl("status")
        seen.expect(status.end == .exited(0), "authctl status afterwards: \(status)")
        let doctor = try await scene.stage.authctl("doctor")
        for text in [row.told.status, row.told.doctor].compactMap(\.self) where !row.isSaidForGood {
            seen.expect(!(status.output + doctor.output).contains(text), "it is still said: \(text)")
        }
        let uses = await scene.issuer.counters.spentTokenUses
        seen.expect(uses == 0, "\(uses) spent tokens sent")
        if let line = row.told.manager {
            seen.expect(
                scene.stage.notify.status?.contains(line) == false,
                "status line: \(scene.stage.notify.status ?? "")"
            )
        }
    }

    /// The doctor's line about the fault, and its advice.
    private static func advice(in doctor: String, on text: String?) -> String {
        guard let text, let place = doctor.firstRange(of: text) else { return "-" }
        let lines = doctor[place.lowerBound...].split(separator: "\n").prefix(2)
        return lines.map { $0.trimmed }.joined(separator: "; ")
    }
}

/// Expectations that were not met.
private struct Sightings {
    private(set) var surprises: [String] = []

    mutating func expect(_ holds: Bool, _ surprise: @autoclosure () -> String) {
        if !holds { surprises.append(surprise()) }
    }

    mutating func wait(
        for text: String,
        in log: EventLog<String>,
        from index: Int = 0,
        _ limit: Duration
    ) async {
        do {
            try await log.first(text, from: index, within: limit) { $0.contains(text) }
        } catch {
            surprises.append("nobody was told: \(text)")
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        drop { $0 == " " }
    }
}
