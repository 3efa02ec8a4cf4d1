internal import CommandLineProgram
internal import StrictJSON

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

    /// The version that the calling program uses. Without one, a person is looking at the output.
    ///
    /// - Parameter info: `KUBERNETES_EXEC_INFO`; nil if it is not set.
    /// - Throws: `unusableDocument` if it is not an `ExecCredential`, or has an unknown version.
    static func asked(by info: String?) throws(Report) -> KubeVersion {
        guard let info else { return .v1 }
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
        return version
    }
}
