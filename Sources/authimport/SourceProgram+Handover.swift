internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// How each program gives up an account.
extension SourceProgram {
    /// The processes that spend its refresh tokens, by their names in the process table.
    var processes: [String] {
        switch self {
        case .oidcAgent: ["oidc-agent"]
        case .muttOAuth2: ["mutt_oauth2.py", "mutt", "neomutt", "mbsync"]
        // Only settings are taken over.
        case .pizauth: []
        case .gcloud: ["gcloud", "gcloud.py", "gsutil.py", "bq.py"]
        case .azureCLI: ["az", "azure.cli"]
        case .rclone: ["rclone"]
        case .kubelogin: ["kubelogin", "kubectl-oidc_login", "kubectl", "k9s", "helm"]
        case .kubeconfig: ["kubectl", "k9s", "helm"]
        case .onedrive: ["onedrive"]
        case .aerc: ["aerc"]
        // We do not know whose file it is.
        case .file: []
        }
    }

    /// The command that stops it.
    func stop(_ sourceName: String) -> String {
        switch self {
        case .oidcAgent:
            "oidc-add --remove \(sourceName), or stop the agent: oidc-agent -k"
                + (environmentValue("OIDC_SOCK") == nil
                    ? "; without the variable OIDC_SOCK the agent cannot be asked which accounts it has" : "")
        case .muttOAuth2: "quit mutt, and stop the timer or the loop that runs mbsync"
        case .pizauth: "pizauth shutdown"
        case .gcloud, .azureCLI: "wait until \(title) has ended"
        case .rclone: "stop rclone, and unmount what it has mounted"
        case .kubelogin, .kubeconfig: "quit kubectl, k9s and helm"
        case .onedrive: "systemctl --user stop onedrive"
        case .aerc: "quit aerc"
        case .file: "stop the program that uses the file"
        }
    }

    /// The commands that remove an account there, or other steps. None of them revokes the grant that was taken over.
    func retire(_ account: MovableAccount, sourceName: String, name: String) -> [Hint] {
        let origin = account.origin
        let (remove, there) = (Command(program: "rm", path: origin), ShellWord.quoted(sourceName))
        return switch self {
        // `oidc-gen --delete` and `gcloud … revoke` also revoke the grant.
        case .oidcAgent: ["\(remove) ('oidc-gen --delete' would revoke the grant)"]
        case .muttOAuth2: ["in the mail program's settings: \(Command("token", name))", "\(remove)"]
        case .pizauth:
            ["delete the block of '\(sourceName)' from '\(origin)'", "\(Command(program: "pizauth", "reload"))"]
        case .gcloud: ["\(remove) ('gcloud auth application-default revoke' would revoke the grant)"]
        case .azureCLI: [Hint(Command(verbatim: "az logout --username \(there)"))]
        case .rclone:
            [
                "\(Command(verbatim: "rclone config delete \(there)"))"
                    + " ('rclone config disconnect' would revoke the grant)"
            ]
        // Without a grant there is no cache file, and the origin is the kubeconfig file.
        case .kubelogin:
            (account.refreshToken == nil ? [] : ["\(remove)"])
                + ["\(Command("kubeconfig", name)) prints the entry for kubectl"]
        case .kubeconfig:
            [
                Hint(
                    Command(verbatim: "kubectl config --kubeconfig=\(ShellWord.quoted(origin)) delete-user \(there)")
                ),
                "\(Command("kubeconfig", name)) prints the entry for kubectl",
            ]
        case .onedrive: ["\(remove) ('onedrive --logout' does the same)"]
        case .aerc: ["in aerc's accounts.conf: source-cred-cmd = \(Command("token", name))"]
        case .file: ["\(remove)"]
        }
    }

    /// Refuses an account that another program may still use.
    func checkStopped(_ sourceName: String) throws(ProgramError) {
        let running = ProcessTable.running(processes)
        guard !running.isEmpty else { return }
        // An agent that runs only for other accounts does not matter. Only a single agent can be asked.
        let agents = running.filter { process in !running.contains { $0.pid == process.parent } }
        if self == .oidcAgent, agents.count == 1, !isLoaded(sourceName) { return }
        throw ProgramError(
            .tryAgainLater,
            "\(title) is running (\(running.map(\.description).joined(separator: ", ")))",
            hint: "\(stop(sourceName)); a server that detects reuse revokes a grant that two programs use"
        )
    }

    /// Whether the agent has loaded the account, as far as we can find out.
    private func isLoaded(_ sourceName: String) -> Bool {
        guard environmentValue("OIDC_SOCK") != nil,
            let answer = try? ProgramRun.source(["oidc-add", "--loaded"])
        else { return true }
        return String(decoding: answer, as: UTF8.self).split(whereSeparator: \.isNewline)
            .contains { $0.trimmed == sourceName }
    }
}
