internal import Basics

extension Surroundings {
    /// Why the service could not start, and what helps, as far as systemd's exit status or the daemon's own tells it
    /// (systemd.exec(5), "Process Exit Codes"); nil if systemd's properties of the service give no known reason.
    func startFailure(_ values: [String: String]) -> (text: String, advice: Hint)? {
        let main = values["ExecMainStatus"].flatMap { Int($0) } ?? 0
        // `{ path=mkdir ; argv[]=… ; code=exited ; status=1 }`. If it fails, the daemon itself is not started.
        let before = values["ExecStartPre"].flatMap(Self.status(ofCommand:)) ?? 0
        let restart = systemctl("restart", "authrefreshd")
        let edit = systemctl("edit", "authrefreshd")
        let journal = Command(program: "journalctl", "--user", "-u", "authrefreshd.service", "-n", "20")
        let text: String
        let advice: Hint
        switch main != 0 ? main : before {
        case 0: return nil
        case 203:
            text = "its program cannot be run (203/EXEC)"
            advice = "install it again, or correct ExecStart=: \(systemctl("cat", "authrefreshd"))"
        case 217:
            text = "user namespaces, which its sandbox needs, are forbidden here (217/USER)"
            advice = "\(withoutNamespace), then: \(restart)"
        case 226:
            text =
                "its sandbox could not be made (226/NAMESPACE): a folder of ReadWritePaths= is missing, or user"
                + " namespaces are forbidden here"
            advice = "make the folder or correct its name: \(edit); or \(withoutNamespace), then: \(restart)"
        case 218:
            text = "its list of capabilities cannot be set (218/CAPABILITIES)"
            advice = "take CapabilityBoundingSet= out of the drop-in: \(edit); then: \(restart)"
        case 243:
            text = "a credential of LoadCredential= cannot be read (243/CREDENTIALS)"
            advice = "put its file back, or correct the line: \(edit); then: \(restart)"
        case let status where main == 0:
            text = "the folder for its accounts cannot be made (ExecStartPre=, status \(status))"
            advice = "make room for ~/.local/state/authrefreshd, or name another folder: \(edit); then: \(restart)"
        case 77:
            text = "the key of its store cannot be used (status 77)"
            advice = "'\(journal)' names the key; put it back, then: \(restart)"
        case 78:
            text = "its configuration or its store is wrong (status 78)"
            advice = "\(Command(program: "authrefreshd", "--check")) and '\(journal)' say what; then: \(restart)"
        default: return nil
        }
        return (text, advice)
    }

    /// How to put the drop-in in force that does without a user namespace.
    private var withoutNamespace: Hint {
        let own = environment("HOME").map { "\($0)/.local/share/authrefreshd" }
        let folder = isPackaged ? "/usr/share/authrefreshd" : own
        let file = "\(folder ?? "~/.local/share/authrefreshd")/see-executables.conf"
        return "without the part of the sandbox that needs them, copy '\(file)' to"
            + " ~/.config/systemd/user/authrefreshd.service.d, \(systemctl("daemon-reload"))"
    }

    private static func status(ofCommand text: String) -> Int? {
        // The last one is systemd's: the command's own words come before it.
        let word = text.split(separator: " ").last { $0.hasPrefix("status=") }
        return word.flatMap { Int($0.dropFirst("status=".count).prefix { $0.isASCII && $0.isNumber }) }
    }
}
