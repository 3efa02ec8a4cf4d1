internal import AuthRefreshInterface
internal import Basics

/// Looks for the daemon's program in all places of installations. A package and `systemd/install` may both be there.
extension Surroundings {
    var installationFinding: Finding {
        let found = installations
        guard let first = found.first else {
            return .note(
                .installation,
                "there is no authrefreshd in '\(programFolder)', in PATH or in ~/.local/bin"
            )
        }
        guard found.count > 1 else { return .ok(.installation, "\(first.shown) is installed") }
        let started = startedByTheService.map { "; the service starts '\(PlainText.line($0))'" } ?? ""
        return .note(
            .installation,
            "there are \(found.count) installations: \(found.map(\.shown).joined(separator: ", "))\(started)",
            advice: found.compactMap(\.removal).reduce("keep one") { $0 + "; \($1)" }
        )
    }

    /// The programs, each once even if several links lead to it; the one of this `authctl` first.
    private var installations: [(shown: String, removal: Hint?)] {
        let home = environment("HOME").map { ["\($0)/.local/bin"] } ?? []
        let inPath = environment("PATH")?.split(separator: ":").map(String.init) ?? []
        let folders = [programFolder] + home + ["/usr/local/bin", "/usr/bin"] + inPath
        var seen: Set<String> = []
        return folders.compactMap { folder in
            let path = "\(folder)/authrefreshd"
            guard let file = file(path), file.kind == .regular, file.mode & 0o111 != 0,
                seen.insert(file.identity ?? path).inserted
            else { return nil }
            return ("'\(path)' (\(version(of: path)))", Self.removal(of: path, in: folder))
        }
    }

    private func version(of program: String) -> String {
        let output = run([program, "--version"])
        guard output.end == .exited(0), let line = output.text.split(separator: "\n").first else {
            return "it does not run"
        }
        return PlainText.line(String(line))
    }

    /// The started program, from systemctl's `{ path=/usr/bin/authrefreshd ; argv[]=… }`; nil if there is no unit.
    private var startedByTheService: String? {
        let output = run(
            systemctl + ["show", "--property=ExecStart", "--value", "authrefreshd.service"]
        )
        guard output.end == .exited(0), let start = output.text.firstRange(of: "path=") else { return nil }
        let path = output.text[start.upperBound...].prefix { $0 != " " }
        return path.isEmpty ? nil : String(path)
    }

    /// How to remove the program; nil if neither the package nor `systemd/install` puts one there.
    private static func removal(of path: String, in folder: String) -> Hint? {
        let command: Command
        if ["/usr/bin", "/bin"].contains(folder) {
            command = Command(program: "apt", "remove", "authrefreshd")
        } else if folder.hasSuffix("/bin") {
            command = Command(program: "systemd/uninstall", "--prefix", path: String(folder.dropLast("/bin".count)))
        } else {
            return nil
        }
        return "to remove '\(path)': \(command)"
    }
}
