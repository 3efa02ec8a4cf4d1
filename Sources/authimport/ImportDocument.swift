internal import AuthRefreshInterface

/// An account in the document that `--json` prints. The page "JSON of authctl" describes it.
struct ImportDocument: Encodable {
    var account: String
    var exitStatus: Int32?
    var issuer: String?
    var message: String?
    var notes: [String]
    var origin: String?
    var outcome: String?
    var program: String
    var provider: String?
    var retire: [String]?
    var takes: String?

    /// The document as indented JSON, with a newline.
    static func text(_ accounts: [ImportDocument]) -> String {
        WireText.encodeIndented(["accounts": accounts]) + "\n"
    }
}
