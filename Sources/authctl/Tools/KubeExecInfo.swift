internal import Basics
internal import Glibc
internal import TextEncodings

/// A version of `client.authentication.k8s.io`, the protocol between client-go and its credential plugins.
enum KubeVersion: String, CaseIterable, Sendable {
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

/// What a Kubernetes client says to its credential plugin.
struct KubeExecInfo {
    /// The version that the client uses.
    var version = KubeVersion.v1
    /// The address of the cluster; nil if the client does not name it, which it does only with `provideClusterInfo`.
    private(set) var cluster: String?

    /// Reads what the client says.
    ///
    /// - Parameter info: `KUBERNETES_EXEC_INFO`; nil if it is not set, because a person is looking at the output.
    /// - Throws: `document` if it is not an `ExecCredential`, or has an unknown version.
    init(_ info: String?) throws(Report) {
        guard let info else { return }
        guard let document = try? JSONText(info), document["kind"]?.string == "ExecCredential",
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
        self.version = version
        let cluster = document["spec"]?["cluster"]
        let parts = [cluster?["server"]?.string, cluster?["tls-server-name"]?.string].compactMap(\.self)
        self.cluster = parts.isEmpty ? nil : parts.joined(separator: " ")
    }
}

/// The process that started this one.
enum ParentProcess {
    /// Its ID, its start time in ticks (proc_pid_stat(5)) and its program's file; nil if it is not visible, for example
    /// from a container.
    ///
    /// No two processes have the first two since the machine started. But a process may become another program: the
    /// kubectl of Google Cloud asks the cluster for its version, and executes the kubectl of that version.
    static var name: String? {
        let pid = getppid()
        // The second field is a name in parentheses that may contain anything. The 22nd field is the start time.
        guard pid > 0, let text = Surroundings.real.text("/proc/\(pid)/stat"), let name = text.lastIndex(of: ")") else {
            return nil
        }
        let fields = text[name...].split(separator: " ")
        guard fields.count > 20 else { return nil }
        let program = Surroundings.real.file("/proc/\(pid)/exe")?.identity
        return ["\(pid)", "\(fields[20])", program].compactMap(\.self).joined(separator: ".")
    }
}
