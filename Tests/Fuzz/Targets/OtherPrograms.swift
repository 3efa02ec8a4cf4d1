internal import AuthRefreshInterface
internal import Basics
@testable internal import authimport
internal import RefreshCore

/// The files in which other programs keep accounts.
///
/// The first byte of an input says which program wrote it. For parsers that need two files, the second file follows the
/// line `--`.
enum OtherPrograms {
    private static let origin = "fuzzed"
    private static let home = "/home/jane"

    private enum Reader: CaseIterable {
        case oidcAgent, muttOAuth2, muttSettings, pizauth, gcloud, azureCLI, rclone
        case kubeconfig, kubelogin, kubeloginUsers
        case aerc, oneDrive, storedGrant
    }

    static func run(_ input: [UInt8]) {
        var rest = input
        let reader = Reader.allCases[rest.takeByte() % Reader.allCases.count]
        let (file, second) = files(in: rest)
        let accounts: [MovableAccount]
        do {
            accounts = try read(file, second, by: reader)
        } catch {
            return check(error)
        }
        require(accounts.count <= ImportLimit.movedAccountsMax, "no more accounts are read than the limit says")
        for account in accounts { check(account, of: input) }
    }

    /// The parts before and after the line `--`. Without such a line, the first part is everything.
    private static func files(in bytes: [UInt8]) -> ([UInt8], [UInt8]) {
        guard let line = bytes.firstRange(of: Array("\n--\n".utf8)) else { return (bytes, []) }
        return (Array(bytes[..<line.lowerBound]), Array(bytes[line.upperBound...]))
    }

    private static func read(
        _ file: [UInt8],
        _ second: [UInt8],
        by reader: Reader
    ) throws(ProgramError) -> [MovableAccount] {
        switch reader {
        case .oidcAgent:
            checkNames(file)
            return [try OIDCAgentAccount.account(in: file, origin: origin)]
        case .muttOAuth2:
            let script = second.isEmpty ? nil : try MuttOAuth2Script(second, origin: origin)
            return [try MuttOAuth2Token.account(in: file, script: script, origin: origin)]
        case .muttSettings:
            checkPlaces(file)
            return []
        case .pizauth: return try checked(PizauthConfiguration.accounts(in: file, origin: origin))
        case .gcloud: return [try GcloudCredentials.account(in: file, origin: origin)]
        case .azureCLI:
            let profile = second.isEmpty ? nil : second
            return try checked(AzureTokenCache.accounts(in: file, profile: profile, origin: origin))
        case .rclone: return try checked(RcloneConfiguration.accounts(in: file, origin: origin))
        case .kubeconfig: return try checked(KubeconfigUsers.accounts(in: file, origin: origin))
        case .kubelogin:
            let users = try checked(KubeconfigUsers.kubelogin(in: second, origin: origin))
            let account = try KubeloginCache.account(in: file, origin: origin, users: users)
            require(account == nil || !users.isEmpty, "a grant of kubelogin's belongs to one of its users")
            return account.map { [$0] } ?? []
        case .kubeloginUsers:
            let users = try checked(KubeconfigUsers.kubelogin(in: file, origin: origin))
            require(users.allSatisfy { $0.refreshToken == nil }, "kubelogin's grants are not in the kubeconfig file")
            return users
        case .aerc: return try checked(AercAccounts.accounts(in: file, origin: origin))
        case .oneDrive:
            let settings = second.isEmpty ? nil : second
            return [try OneDriveClient.account(in: file, settings: settings, folder: "onedrive", origin: origin)]
        case .storedGrant: return [try StoredGrant.account(in: file, origin: origin)]
        }
    }

    /// The accounts of a file whose problems have the form of errors.
    private static func checked(_ found: FoundInFile) -> [MovableAccount] {
        for problem in found.problems { check(problem) }
        return found.accounts
    }

    private static func check(_ account: MovableAccount, of input: [UInt8]) {
        require(AccountName(account.settings.name) != nil, "the suggested name is one that an account can have")
        require(account.settings.provider == nil || account.settings.issuer == nil, "a provider has an issuer already")
        // Each byte that is not UTF-8 becomes three.
        let most = input.count * 3
        for secret in [account.refreshToken, account.clientSecret].compactMap({ $0 }) {
            require((1...most).contains(secret.count), "a secret comes out of its file")
        }
        require(account.origin == origin, "an account says where it comes from")
        let isSentence = { (note: String) in note.hasSuffix(".") || note.contains(": ") }
        require(account.notes.map(\.text).allSatisfy(isSentence), "a note is a sentence, or ends with a command")
    }

    private static func check(_ error: ProgramError) {
        require(error.message.hasPrefix("'\(origin)' "), "an error says where the bytes come from")
        require(!error.message.hasSuffix(" is encrypted") || error.hint != nil, "what helps is said")
    }

    /// Names of files, one per line. Each name that counts as an account's must be one of them.
    private static func checkNames(_ file: [UInt8]) {
        let names = String(decoding: file, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        require(Set(OIDCAgentAccount.names(among: names)).isSubset(of: names), "no file is made up")
    }

    private static func checkPlaces(_ file: [UInt8]) {
        let places = MuttOAuth2Token.places(in: file, home: home)
        require(Set(places).count == places.count, "each token file is named once")
        require(places.allSatisfy { $0.script.hasSuffix("mutt_oauth2.py") }, "a token file stands behind the script")
    }
}
