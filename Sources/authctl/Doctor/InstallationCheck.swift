internal import AuthRefreshInterface
internal import Basics

/// Looks for the daemon's program in all places of installations. A package and `systemd/install` may both be there.
struct InstallationCheck {
    private static let program = "authrefreshd"

    let surroundings: Surroundings

    var finding: Finding {
        let found = programs
        guard let first = found.first else {
            return .note(
                .installation,
                "there is no authrefreshd in '\(surroundings.programFolder)', in PATH or in ~/.local/bin"
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
    private var programs: [InstalledProgram] {
        let home = surroundings.environment("HOME").map { ["\($0)/.local/bin"] } ?? []
        let inPath = surroundings.environment("PATH")?.split(separator: ":").map(String.init) ?? []
        let folders = [surroundings.programFolder] + home + ["/usr/local/bin", "/usr/bin"] + inPath
        var seen: Set<String> = []
        return folders.compactMap { folder in
            let path = "\(folder)/\(Self.program)"
            guard let file = surroundings.file(path), file.kind == .regular, file.mode & 0o111 != 0,
                seen.insert(file.identity ?? path).inserted
            else { return nil }
            return InstalledProgram(folder: folder, path: path, version: version(of: path))
        }
    }

    private func version(of program: String) -> String {
        let output = surroundings.run([program, "--version"])
        guard output.end == .exited(0), let line = output.text.split(separator: "\n").first else {
            return "it does not run"
        }
        return PlainText.line(String(line))
    }

    /// The started program, from systemctl's `{ path=/usr/bin/authrefreshd ; argv[]=… }`; nil if there is no unit.
    private var startedByTheService: String? {
        let output = surroundings.run(
            surroundings.systemctl + ["show", "--property=ExecStart", "--value", "authrefreshd.service"]
        )
        guard output.end == .exited(0), let start = output.text.firstRange(of: "path=") else { return nil }
        let path = output.text[start.upperBound...].prefix { $0 != " " }
        return path.isEmpty ? nil : String(path)
    }
}

/// A daemon's program in one of the places of installations.
private struct InstalledProgram {
    let folder: String
    let path: String
    let version: String

    var shown: String { "'\(path)' (\(version))" }

    /// How to remove it; nil if neither the package nor `systemd/install` puts a program there.
    var removal: Hint? {
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
