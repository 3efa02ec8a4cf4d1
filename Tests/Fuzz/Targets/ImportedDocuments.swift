internal import AuthRefreshInterface
internal import Basics

@testable internal import authctl

/// Files that `authctl account import` is given.
enum ImportedDocuments {
    static func run(_ input: [UInt8]) {
        let secret = SecretText(String(decoding: input, as: UTF8.self))
        guard let document = try? ImportedDocument(secret, bare: SecretText.init) else { return }
        switch document {
        case .refreshToken(let token, _):
            require(token.utf8.count <= input.count * 3, "a token comes out of its file")
        case .account(let account):
            require(account.format == AccountDocument.currentFormat, "an export is of a kind that is known")
            let written = WireText.encode(account)
            guard case .account(let again)? = try? ImportedDocument(SecretText(written), bare: SecretText.init) else {
                return require(false, "an export that was read can be read again")
            }
            require(WireText.encode(again) == written, "an export stays the same when it is read and written")
        }
    }
}
