internal import AuthRefreshInterface

/// Looks at the socket's file and its folder.
struct SocketCheck {
    let surroundings: Surroundings
    let path: String

    var findings: [Finding] {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return [folderFinding(folder), socketFinding].compactMap(\.self)
    }

    /// Nil if there is nothing to say.
    private func folderFinding(_ folder: String) -> Finding? {
        // A socket in /tmp or in the present folder is somebody's experiment; what counts is the socket itself.
        guard folder.hasSuffix("/authrefreshd"), let file = surroundings.file(folder) else { return nil }
        guard file.owner == surroundings.user else {
            return .error(
                .socket,
                "the socket's folder belongs to another user (uid \(file.owner)): who listens in it is not known",
                of: folder,
                needs: .repair,
                advice: "remove the folder, then: systemctl --user restart authrefreshd.socket"
            )
        }
        guard file.mode & 0o077 != 0 else { return nil }
        return .warning(
            .socket,
            "the socket's folder is open to other users (mode 0\(String(file.mode, radix: 8)))",
            of: folder,
            needs: .repair,
            advice: "chmod 700 '\(folder)'"
        )
    }

    private var socketFinding: Finding {
        // sockaddr_un holds 107 bytes and a NUL (unix(7)).
        guard path.utf8.count <= 107 else {
            return .error(
                .socket,
                "the path is longer than 107 bytes",
                of: path,
                needs: .repair,
                advice: "name a shorter one"
            )
        }
        guard let file = surroundings.file(path) else {
            return .error(
                .socket,
                "there is no socket",
                of: path,
                needs: .start,
                advice: "systemctl --user enable --now authrefreshd.socket; not installed yet: systemd/install"
            )
        }
        guard file.kind == .socket else {
            return .error(
                .socket,
                "this is no socket",
                of: path,
                needs: .repair,
                advice: "name the daemon's socket, or remove it"
            )
        }
        guard file.owner == surroundings.user else {
            return .error(
                .socket,
                "it belongs to another user (uid \(file.owner)), whom alone it serves",
                of: path,
                needs: .permission,
                advice: "check --socket and AUTHREFRESH_SOCKET"
            )
        }
        guard file.mode & 0o077 == 0 else {
            let mode = String(file.mode, radix: 8)
            return .note(.socket, "its mode is 0\(mode); the daemon turns other users away all the same", of: path)
        }
        return .ok(.socket, "it is there, and yours alone", of: path)
    }
}
