internal import AuthRefreshInterface

/// The document that `--json` prints. The page "JSON of authctl" describes it.
struct ImportDocument: Encodable {
    struct Account: Encodable {
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
    }

    let accounts: [Account]

    /// The document as indented JSON, with a newline.
    var text: String { WireText.encodeIndented(self) + "\n" }
}
