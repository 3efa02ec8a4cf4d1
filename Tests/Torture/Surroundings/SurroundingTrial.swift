internal import AuthRefreshInterface
internal import DemoIssuer
internal import TestSupport

/// One fault around a daemon: while it lasts, what there is is served and it is said what is wrong; and when it goes, all is well
/// without anybody's help.
struct SurroundingTrial {
    /// For whatever the daemon has to notice.
    private static let patience = Duration.seconds(20)

    let row: Surrounding

    /// - Returns: what was not as it is to be, and what was seen of it, as a row of the table.
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
        // What is not noticed at once is noticed by whoever wants something.
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

    /// A new token comes, nothing is said to be wrong, and no refresh token was sent twice.
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

    /// The line of the doctor's that tells of the fault, and what it says to do.
    private static func advice(in doctor: String, on text: String?) -> String {
        guard let text, let place = doctor.firstRange(of: text) else { return "-" }
        let lines = doctor[place.lowerBound...].split(separator: "\n").prefix(2)
        return lines.map { $0.trimmed }.joined(separator: "; ")
    }
}

/// What did not come, or was otherwise.
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
