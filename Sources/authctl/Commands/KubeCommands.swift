internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl kube-credential`.
struct KubeCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kube-credential",
        abstract: "Give kubectl and other Kubernetes clients a token.",
        discussion: """
            Examples:

              \(InvokedAs.here) kubeconfig work
              \(InvokedAs.here) kube-credential work
              \(InvokedAs.here) kube-credential work --use-access-token --min-validity 5m
              \(InvokedAs.here) kube-credential work --scope api://cluster/.default

            Prints an ExecCredential (client.authentication.k8s.io) with the account's ID token, in the version \
            that KUBERNETES_EXEC_INFO asks for, v1 or v1beta1. kubectl, k9s, helm and all programs on client-go \
            run this command by themselves once you have set up the output of '\(InvokedAs.here) kubeconfig'. It never asks \
            anything on the terminal. If somebody has to sign in, it says so on standard error.

            The expiry time in it is 60 s before the token's own, or a tenth of what is left, so that no request \
            arrives with an expired token. If the same process asks again for the same cluster before that time, \
            the cluster has refused the token. The daemon then gets another one, once a minute for a process.

            With --scope, --resource or --audience it prints an access token for them, as '\(InvokedAs.here) token' does.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Flag(help: "Print the access token instead of the ID token, for clusters that accept it.")
    var useAccessToken = false

    @OptionGroup var target: TokenTargetOptions

    @Option(help: .value("time", "How long the token must still be valid: 60s, 5m."))
    var minValidity: LengthOfTime?

    @Flag(help: "Accepted by every command; the answer of this one is always JSON, and so are errors.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        let (version, cluster) = try Self.client()
        var request = target.request(for: account, minimumValidity: minValidity, socket: connection.socket)
        request.idToken = !useAccessToken && !target.isGiven
        var daemon = try connection.connect()
        let token = try ToolToken.kept(for: cluster, request, from: &daemon)
        let status = JSONText.object([
            ("expirationTimestamp", UTCStamp.text(token.heldUntil * 1_000_000).map(JSONText.quote)),
            ("token", JSONText.quote(token.secret.reveal())),
        ])
        let answer = JSONText.object([
            ("apiVersion", JSONText.quote(version.group)), ("kind", JSONText.quote("ExecCredential")),
            ("status", status),
        ])
        try StandardOutput.write(answer + "\n")
    }

    /// What the Kubernetes client says in `KUBERNETES_EXEC_INFO`: its version of the protocol; and the address of the
    /// cluster, if it names that, which it does only with `provideClusterInfo`. The variable is missing if a person looks
    /// at the output.
    ///
    /// - Throws: `document` if it is not an `ExecCredential`, or has an unknown version.
    private static func client() throws(Report) -> (version: KubeVersion, cluster: String?) {
        guard let info = environmentValue("KUBERNETES_EXEC_INFO") else { return (.v1, nil) }
        guard let document = JSONValue(info), document["kind"]?.string == "ExecCredential",
            let group = document["apiVersion"]?.string
        else {
            throw .document(
                "KUBERNETES_EXEC_INFO contains no ExecCredential",
                hint: "kubectl sets this variable; unset it to run the command by hand"
            )
        }
        guard let version = KubeVersion(group: group) else {
            let known = KubeVersion.allCases.map(\.group).joined(separator: " and ")
            throw .document(
                "KUBERNETES_EXEC_INFO asks for '\(group)'; known are \(known)",
                hint: "'\(Command("kubeconfig", "ACCOUNT"))' prints the entry that asks for one of these"
            )
        }
        let cluster = document["spec"]?["cluster"]
        let parts = [cluster?["server"]?.string, cluster?["tls-server-name"]?.string].compactMap(\.self)
        return (version, parts.isEmpty ? nil : parts.joined(separator: " "))
    }
}

/// `authctl kubeconfig`.
struct KubeconfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kubeconfig",
        abstract: "Print a kubeconfig entry that makes kubectl use an account.",
        discussion: """
            Examples:

              \(InvokedAs.here) kubeconfig work > ~/.kube/work.yaml
              export KUBECONFIG=~/.kube/config:~/.kube/work.yaml
              kubectl config set-context --current --user work

            Prints a kubeconfig with one entry under 'users', named after the account, that makes kubectl call \
            '\(InvokedAs.here) kube-credential'. Copy the entry into your kubeconfig, or name both files in KUBECONFIG, and \
            give a context that user.

            kubectl names the cluster to the command (provideClusterInfo), so that several clusters with one \
            account are not mistaken for one that refuses the token.

            kubectl before 1.22 needs --api-version v1beta1.
            """
    )

    @Argument(help: "The account.", completion: DaemonCompletion.accounts)
    var account: String

    @Flag(help: "Use the access token instead of the ID token.")
    var useAccessToken = false

    @OptionGroup var target: TokenTargetOptions

    @Option(help: .value("version", "The version of ExecCredential that kubectl should use."))
    var apiVersion = KubeVersion.v1

    @Flag(help: "Print JSON, which kubectl reads as well; errors too.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        // If the account does not exist, fail and print nothing.
        _ = try daemon.allSettings(accounts: [account])
        try StandardOutput.write(json ? document + "\n" : yaml)
    }

    private var words: [String] {
        ["kube-credential", account] + (useAccessToken ? ["--use-access-token"] : []) + target.words
            + (connection.socket.map { ["--socket", $0] } ?? [])
    }

    private var document: String {
        let exec = JSONText.object([
            ("apiVersion", JSONText.quote(apiVersion.group)), ("args", JSONText.array(words)),
            ("command", JSONText.quote("authctl")), ("interactiveMode", JSONText.quote("Never")),
            ("provideClusterInfo", "true"),
        ])
        let user = JSONText.object([
            ("name", JSONText.quote(account)), ("user", JSONText.object([("exec", exec)])),
        ])
        return JSONText.object([
            ("apiVersion", JSONText.quote("v1")), ("kind", JSONText.quote("Config")), ("users", "[\(user)]"),
        ])
    }

    /// The text as a YAML string. YAML accepts JSON's strings.
    private var yaml: String {
        """
        apiVersion: v1
        kind: Config
        users:
          - name: \(JSONText.quote(account))
            user:
              exec:
                apiVersion: \(apiVersion.group)
                command: authctl
                args: \(JSONText.array(words))
                interactiveMode: Never
                provideClusterInfo: true

        """
    }
}

/// A version of `client.authentication.k8s.io`, the protocol between client-go and its credential plugins.
enum KubeVersion: String, CaseIterable, ExpressibleByArgument, Sendable {
    case v1
    case v1beta1

    /// `client.authentication.k8s.io/v1`.
    var group: String { "\(Self.groupPrefix)\(rawValue)" }

    private static let groupPrefix = "client.authentication.k8s.io/"

    /// Reads a version.
    ///
    /// - Parameter group: `apiVersion` of a document.
    init?(group: String) {
        guard group.hasPrefix(Self.groupPrefix) else { return nil }
        self.init(rawValue: String(group.dropFirst(Self.groupPrefix.count)))
    }
}
