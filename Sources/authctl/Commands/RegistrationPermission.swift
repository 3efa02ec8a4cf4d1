internal import ArgumentParser
internal import Basics

/// The option for the token that some servers demand for a registration (RFC 7591 §3, "initial access token").
struct RegistrationPermission: ParsableArguments {
    @Option(
        help: .value(
            "file",
            "A file with the token that permits a registration; '-' reads standard input, or asks on the terminal."
        ),
        completion: .file()
    )
    var initialAccessTokenFile: String?

    /// The token; nil if no file is named.
    func token(register: Bool, account: String) throws(Report) -> String? {
        guard let file = initialAccessTokenFile else { return nil }
        guard register else {
            throw .usage(
                "'--initial-access-token-file' needs '--register'",
                hint: "add --register, or leave '--initial-access-token-file' out"
            )
        }
        let text = try SecretFile(name: file, purpose: .initialAccessToken)
            .readLine(prompt: "Initial access token for '\(PlainText.line(account))': ")
        return try PastedText(text.reveal(), purpose: .initialAccessToken).secret().reveal()
    }
}
