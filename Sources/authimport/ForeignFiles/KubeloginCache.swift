internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import TextEncodings

/// Reads a file of kubelogin's token cache (int128/kubelogin). The file's name is a digest, so the ID token inside
/// shows whose it is.
enum KubeloginCache {
    private static let expected = "a file of kubelogin's token cache"

    /// The cache folder of a user.
    static func folder(of user: MovableAccount, home: String) -> String {
        let folder = user.cacheFolder ?? "~/.kube/cache/oidc-login"
        return folder.hasPrefix("~/") ? home + folder.dropFirst() : folder
    }

    /// Reads the account.
    ///
    /// - Parameter users: the possible owners, from `KubeconfigUsers.kubelogin`.
    /// - Returns: nil if it belongs to none of them.
    /// - Throws: `wrongFormat`, `tooLarge`.
    static func account(
        in bytes: [UInt8],
        origin: String,
        users: [MovableAccount]
    ) throws(ProgramError) -> MovableAccount? {
        let fields = try JSONFields(bytes, origin: origin, expected: expected)
        let parts = (fields.text("id_token") ?? "").split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1].utf8) else {
            throw .wrongFormat(origin, expected: expected)
        }
        let claims = try JSONFields(payload, origin: origin, expected: expected)
        let audiences = claims.texts("aud") ?? claims.text("aud").map { [$0] } ?? []
        let issuer = claims.text("iss")
        guard
            var account = users.first(where: { user in
                user.settings.issuer == issuer && audiences.contains { $0 == user.settings.clientId }
            })
        else { return nil }
        account.origin = origin
        account.refreshToken = fields.secret("refresh_token")
        if account.refreshToken == nil { account.notes.append(Hint(SourceProgram.kubelogin.noRefreshToken)) }
        return account
    }
}
