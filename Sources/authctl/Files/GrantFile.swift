/// A file named by `--refresh-token-file`.
struct GrantFile {
    let name: String
    /// Whom the token is for, in the prompt.
    let account: String

    /// - Throws: `secretFile`, `unusableDocument`, `cancelled`.
    func refreshToken() throws(AuthctlError) -> String {
        let secret = try SecretFile(name: name, purpose: .refreshToken)
            .read(prompt: "refresh token of '\(PlainText.line(account))': ")
        switch try ImportedDocument(secret) {
        case .refreshToken(let token): return token
        case .account:
            throw .unusableDocument(
                message: "the file holds an account's export, not a refresh token",
                hint: "authctl account import FILE"
            )
        }
    }
}
