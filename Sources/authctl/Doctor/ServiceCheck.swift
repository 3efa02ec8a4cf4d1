internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// Checks the units' state in the service manager, and whether they continue after the session.
extension Surroundings {
    private static let unitProperties = [
        "Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "Result", "ExecMainStatus", "ExecStartPre",
        "NRestarts", "StatusText", "NeedDaemonReload",
    ]

    /// - Parameter isAnswering: whether the daemon answers. Then it matters less how it was started.
    func serviceFindings(isAnswering: Bool) -> [Finding] {
        func unavailable(_ reason: String) -> Finding {
            let text = "your service manager cannot be asked: \(reason)"
            let advice: Hint =
                "log in through a session (ssh, machinectl shell), or: \(Command(program: "loginctl", "enable-linger"))"
            return isAnswering
                ? .note(.service, text, advice: advice) : .error(.service, text, needs: .start, advice: advice)
        }
        let properties = "--property=" + Self.unitProperties.joined(separator: ",")
        let output = run(systemctl + ["show", properties, "authrefreshd.socket", "authrefreshd.service"])
        switch output.end {
        case .exited(0): return unitFindings(output.text, isAnswering: isAnswering) + [lingerFinding]
        case .exited:
            let reason = output.text.split(separator: "\n").first.map(String.init) ?? "it gives no reason"
            return [unavailable(PlainText.line(reason).lowercasedFirst), lingerFinding]
        case .timedOut, .tooMuch: return [unavailable("it does not answer"), lingerFinding]
        case .notStarted(ENOENT):
            return [
                .note(
                    .service,
                    "there is no systemd here to start the daemon",
                    advice: Hint(Command(verbatim: "authrefreshd &"))
                )
            ]
        case .notStarted(let number): return [unavailable("systemctl cannot be run: \(systemText(number))")]
        }
    }

    /// The findings for each unit, from `NAME=value` lines with an empty line between units.
    private func unitFindings(_ text: String, isAnswering: Bool) -> [Finding] {
        let blocks = text.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "")
        return blocks.flatMap { lines -> [Finding] in
            var values: [String: String] = [:]
            for line in lines {
                guard let equals = line.firstIndex(of: "=") else { continue }
                values[String(line[..<equals])] = String(line[line.index(after: equals)...])
            }
            return UnitState(values: values, surroundings: self).findings(isAnswering: isAnswering)
        }
    }

    private var lingerFinding: Finding {
        guard let name = userName else { return .note(.linger, "not known: this user has no name here") }
        guard file("/var/lib/systemd/linger/\(name)") == nil else {
            return .ok(.linger, "the daemon keeps running when you are not logged in")
        }
        let text = "the daemon stops when your last session ends"
        let advice: Hint = "to keep it running: \(Command(program: "loginctl", "enable-linger"))"
        // On a server, people log in and out, but programs need tokens all the time.
        let isRemote = environment("SSH_CONNECTION") != nil
        let isDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment($0) != nil }
        return isRemote && !isDesktop
            ? .warning(.linger, text, needs: .repair, advice: advice) : .note(.linger, text, advice: advice)
    }
}

/// systemd's state of one unit.
private struct UnitState {
    let values: [String: String]
    let surroundings: Surroundings

    private var name: String { values["Id"] ?? "a unit" }
    private var isService: Bool { name.hasSuffix(".service") }

    func findings(isAnswering: Bool) -> [Finding] {
        var found = [activity(isAnswering: isAnswering)]
        if values["NeedDaemonReload"] == "yes" {
            found.append(
                warning(
                    "its unit file has changed since systemd read it",
                    advice: Hint(surroundings.systemctl("daemon-reload"))
                )
            )
        }
        if values["LoadState"] == "loaded", !isService, values["UnitFileState"] == "disabled" {
            found.append(
                warning("it is not started when you log in", advice: systemctl("enable"))
            )
        }
        return found
    }

    private func activity(isAnswering: Bool) -> Finding {
        // `active (running)`
        let state = "\(values["ActiveState"] ?? "unknown") (\(values["SubState"] ?? "unknown"))"
        switch (values["LoadState"], values["ActiveState"]) {
        case ("not-found", _) where isAnswering:
            return .note(.service, "systemd does not know it: the daemon was started in another way", of: name)
        case ("not-found", _):
            guard !surroundings.haveUnits else {
                return error("systemd has not read it yet", advice: Hint(surroundings.systemctl("daemon-reload")))
            }
            return error("systemd does not know it", advice: surroundings.installationHint)
        case ("masked", _): return error("it is masked", advice: systemctl("unmask"))
        case ("loaded", "active"): return active(state)
        // Between two starts that fail, it is activating.
        case ("loaded", let activity?) where activity == "failed" || activity == "activating" && restarts > 0:
            if isService, let failure = surroundings.startFailure(values) {
                return error("it has failed: \(failure.text)", advice: failure.advice)
            }
            let status = values["ExecMainStatus"].flatMap { $0 == "0" ? nil : ", status \($0)" } ?? ""
            return error(
                "it has failed: \(values["Result"] ?? "no reason is given")\(status)",
                advice: "\(Command(program: "journalctl", "--user", "-u", name, "-n", "20")),"
                    + " then: \(systemctl("restart"))"
            )
        case ("loaded", "inactive") where isService:
            return .ok(.service, "\(state): the socket starts it when a program asks", of: name)
        case ("loaded", "inactive") where isAnswering:
            return .note(.service, "\(state): the daemon was started in another way", of: name)
        case ("loaded", "inactive"): return error(state, advice: systemctl("start"))
        default: return .note(.service, state, of: name, advice: systemctl("status"))
        }
    }

    private var restarts: Int { Int(values["NRestarts"] ?? "") ?? 0 }

    private func active(_ state: String) -> Finding {
        let status = values["StatusText"].flatMap { $0.isEmpty ? nil : ": " + PlainText.line($0) } ?? ""
        guard restarts > 0 else { return .ok(.service, state + status, of: name) }
        return .note(
            .service,
            "\(state), restarted \(restarts == 1 ? "once" : "\(restarts) times")\(status)",
            of: name,
            advice: Hint(Command(program: "journalctl", "--user", "-u", name))
        )
    }

    private func systemctl(_ verb: String) -> Hint {
        Hint(surroundings.systemctl(verb, name))
    }

    private func warning(_ text: String, advice: Hint) -> Finding {
        .warning(.service, text, of: name, needs: .repair, advice: advice)
    }

    private func error(_ text: String, advice: Hint) -> Finding {
        .error(.service, text, of: name, needs: .start, advice: advice)
    }
}
