internal import AuthRefreshInterface
internal import CommandLineProgram
internal import Glibc
internal import Terminal

/// Checks the units' state in the service manager, and whether they continue after the session.
struct ServiceCheck {
    let surroundings: Surroundings
    /// Whether the daemon answers. Then it matters less how it was started.
    let isAnswering: Bool

    private static let units = ["authrefreshd.socket", "authrefreshd.service"]
    private static let properties = [
        "Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "Result", "ExecMainStatus", "NRestarts",
        "StatusText", "NeedDaemonReload",
    ]

    var findings: [Finding] {
        let output = surroundings.run(
            ["systemctl", "--user", "show", "--property=" + Self.properties.joined(separator: ",")] + Self.units
        )
        switch output.end {
        case .exited(0): return unitFindings(output.text) + [linger]
        case .exited: return [unavailable(firstLine(of: output.text)), linger]
        case .timedOut: return [unavailable("it does not answer"), linger]
        case .notStarted(ENOENT):
            return [ManagerFinding.noSystemd.finding]
        case .notStarted(let number): return [unavailable("systemctl cannot be run: \(systemText(number))")]
        }
    }

    private func unavailable(_ reason: String) -> Finding {
        ManagerFinding.notAnswering(reason: reason, isDaemonAnswering: isAnswering).finding
    }

    private func firstLine(of text: String) -> String {
        PlainText.line(text.split(separator: "\n").first.map(String.init) ?? "it gives no reason").lowercasedFirst
    }

    /// The findings for each unit, from `NAME=value` lines with an empty line between units.
    private func unitFindings(_ text: String) -> [Finding] {
        let blocks = text.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "")
        return blocks.flatMap { lines -> [Finding] in
            var values: [String: String] = [:]
            for line in lines {
                guard let equals = line.firstIndex(of: "=") else { continue }
                values[String(line[..<equals])] = String(line[line.index(after: equals)...])
            }
            return UnitState(values: values).findings(isAnswering: isAnswering)
        }
    }

    private var linger: Finding {
        guard let name = surroundings.userName else { return ManagerFinding.lingerUnknown.finding }
        guard surroundings.file("/var/lib/systemd/linger/\(name)") == nil else { return ManagerFinding.lingers.finding }
        // On a server, people log in and out, but programs need tokens all the time.
        let isRemote = surroundings.environment("SSH_CONNECTION") != nil
        let isDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { surroundings.environment($0) != nil }
        return ManagerFinding.doesNotLinger(isServer: isRemote && !isDesktop).finding
    }
}

/// systemd's state of one unit.
private struct UnitState {
    let values: [String: String]

    private var name: String { values["Id"] ?? "a unit" }
    private var isService: Bool { name.hasSuffix(".service") }

    func findings(isAnswering: Bool) -> [Finding] {
        var found = [activity(isAnswering: isAnswering)]
        if values["NeedDaemonReload"] == "yes" { found.append(.changedOnDisk) }
        if values["LoadState"] == "loaded", !isService, values["UnitFileState"] == "disabled" {
            found.append(.notEnabled)
        }
        return found.map { $0.finding(of: name) }
    }

    private func activity(isAnswering: Bool) -> UnitFinding {
        let state = "\(values["ActiveState"] ?? "unknown") (\(values["SubState"] ?? "unknown"))"
        switch (values["LoadState"], values["ActiveState"]) {
        case ("not-found", _): return .notInstalled(isDaemonAnswering: isAnswering)
        case ("masked", _): return .masked
        case ("loaded", "active"):
            let restarts = Int(values["NRestarts"] ?? "") ?? 0
            let status = values["StatusText"].flatMap { $0.isEmpty ? nil : ": " + PlainText.line($0) } ?? ""
            return restarts > 0
                ? .restarted(state: state, status: status, count: restarts) : .active(state: state, status: status)
        case ("loaded", "failed"):
            let status = values["ExecMainStatus"].flatMap { $0 == "0" ? nil : ", status \($0)" } ?? ""
            return .failed(reason: (values["Result"] ?? "no reason is given") + status)
        case ("loaded", "inactive") where isService: return .waiting(state: state)
        case ("loaded", "inactive"): return .inactive(state: state, isDaemonAnswering: isAnswering)
        default: return .other(state: state)
        }
    }
}
