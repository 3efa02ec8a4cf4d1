internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// Reads the account of the OneDrive Client for Linux (abraunegg/onedrive): its file `refresh_token`, and the settings
/// beside it.
enum OneDriveClient {
    private static let expected = "the file 'refresh_token' of the OneDrive Client for Linux"
    /// The client of a user who has set no `application_id` (the project's config.d, `defaultApplicationId`).
    private static let ownClient = "d50ca740-c83f-4d1b-b616-12c519384f0c"

    /// Reads the account.
    ///
    /// - Parameters:
    ///   - settings: the bytes of the file `config`; nil if it is missing.
    ///   - folder: the name of the folder, which is the account's name.
    /// - Throws: `wrongFormat`, `tooLarge`.
    static func account(
        in bytes: [UInt8],
        settings: [UInt8]?,
        folder: String,
        origin: String
    ) throws(ProgramError) -> MovableAccount {
        let token = try SourceText.read(bytes, origin: origin, expected: expected)[...].trimmed
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .wrongFormat(origin, expected: expected)
        }
        let text = try settings.map { bytes throws(ProgramError) in
            try SourceText.read(bytes, origin: origin, expected: "its settings, in the file 'config'")
        }
        let values = values(in: text ?? "")
        var account = MovableAccount(
            source: .onedrive,
            settings: AccountSettings(
                name: MovableAccount.name(from: folder, fallback: "onedrive"),
                clientId: values["application_id"] ?? ownClient
            ) {
                $0.scopes = scopes(values)
            },
            origin: origin
        )
        guard let host = host(values["azure_ad_endpoint"]),
            let server = NamedServer(
                tokenEndpoint: "https://\(host)/\(values["azure_tenant_id"] ?? "common")/oauth2/v2.0/token"
            )
        else {
            account.notes.append("'\(values["azure_ad_endpoint"] ?? "")' is not a server of Microsoft that we know.")
            return account
        }
        account.take(server)
        account.refreshToken = Secret(String(token))
        return account
    }

    /// The folders with accounts, among the folders for settings.
    static func folders(among names: [String]) -> [String] {
        names.filter { $0 == "onedrive" || $0.hasPrefix("onedrive-") || $0.hasPrefix("onedrive_") }
    }

    /// The lines `name = "value"`.
    private static func values(in text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline).map(\.trimmed) where line.first != "#" {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = SourceText.unquoted(String(line[line.index(after: equals)...].trimmed))
            if !value.isEmpty { values[String(line[..<equals].trimmed)] = value }
        }
        return values
    }

    /// The server of a national cloud (the project's docs/national-cloud-deployments.md); nil for an unknown one.
    private static func host(_ cloud: String?) -> String? {
        switch cloud {
        case nil: "login.microsoftonline.com"
        case "USL4", "USL5": "login.microsoftonline.us"
        case "DE": "login.microsoftonline.de"
        case "CN": "login.chinacloudapi.cn"
        case _: nil
        }
    }

    private static func scopes(_ values: [String: String]) -> [String] {
        let rights = values["read_only_auth_scope"] == "true" ? "Read" : "ReadWrite"
        return ["Files.\(rights)", "Files.\(rights).All", "Sites.\(rights).All", "offline_access"]
    }
}
