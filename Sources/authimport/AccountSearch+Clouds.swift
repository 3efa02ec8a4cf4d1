internal import AuthRefreshInterface
internal import Basics

/// Azure CLI and kubelogin, whose accounts are in several files.
extension AccountSearch {
    /// The kubeconfig files; with `--file`, only that one.
    var kubeconfigs: [String] {
        request.file.map { [$0] } ?? KubeconfigUsers.paths(home: home, environment: environment)
    }

    mutating func searchAzure() throws(ProgramError) {
        let folder = AzureTokenCache.folder(home: home, environment: environment)
        // On a desktop with a keyring, the cache is encrypted and its name ends in `.bin`.
        let plain = folder + "/msal_token_cache.json"
        let encrypted = folder + "/msal_token_cache.bin"
        let isOpen = try SourceFile.read(plain) != nil
        let isLocked = try SourceFile.read(encrypted) != nil
        let path = isLocked && !isOpen ? encrypted : plain
        try searchFile(path) { bytes, origin throws(ProgramError) in
            let profile = try SourceFile.read(folder + "/azureProfile.json")
            return try AzureTokenCache.accounts(in: bytes, profile: profile, origin: origin)
        }
    }

    /// If several files have the same user, the first one counts, as in kubectl.
    mutating func searchKubeconfigs() {
        for path in kubeconfigs {
            let known = Set(accounts.filter { $0.source == .kubeconfig }.map(\.sourceName))
            searching { search throws(ProgramError) in
                try search.searchFile(path) { bytes, origin throws(ProgramError) in
                    var found = try KubeconfigUsers.accounts(in: bytes, origin: origin)
                    found.accounts.removeAll { known.contains($0.sourceName) }
                    return found
                }
            }
        }
    }

    /// The users of kubelogin, with the grant from its cache, or only with their settings.
    mutating func searchKubelogin() throws(ProgramError) {
        for path in kubeconfigs {
            guard let bytes = try contents(of: path) else { continue }
            let found = try KubeconfigUsers.kubelogin(in: bytes, origin: path)
            problems += found.problems
            var owners: Set<String> = []
            let folders = found.accounts.map { KubeloginCache.folder(of: $0, home: home) }
            for folder in folders.enumerated().filter({ !folders[..<$0.offset].contains($0.element) }).map(\.element) {
                let users = found.accounts.filter { KubeloginCache.folder(of: $0, home: home) == folder }
                for file in SourceFile.digests(in: folder) {
                    searching { search throws(ProgramError) in try search.searchCache(file, users, &owners) }
                }
            }
            for user in found.accounts where !owners.contains(user.settings.name) {
                accounts.append(FoundAccount(user) { () throws(ProgramError) in user })
            }
        }
    }

    /// Reads one file of kubelogin's cache. Of several files of one user, the first one counts.
    private mutating func searchCache(
        _ file: String,
        _ users: [MovableAccount],
        _ owners: inout Set<String>
    ) throws(ProgramError) {
        let read = { () throws(ProgramError) -> MovableAccount? in
            guard let bytes = try SourceFile.read(file) else { return nil }
            return try KubeloginCache.account(in: bytes, origin: file, users: users)
        }
        guard let account = try read(), owners.insert(account.settings.name).inserted else { return }
        accounts.append(
            FoundAccount(account) { () throws(ProgramError) in
                guard let again = try read() else {
                    throw .wrongFormat(file, expected: "the account's tokens, as before")
                }
                return again
            }
        )
    }

    /// The accounts of the OneDrive Client for Linux. Each has a folder of its own.
    mutating func searchOneDrive() {
        let folders = OneDriveClient.folders(among: SourceFile.names(in: configuration))
        for path in request.file.map({ [$0] }) ?? folders.map({ configuration + "/\($0)/refresh_token" }) {
            searching { search throws(ProgramError) in
                try search.searchFile(path) { bytes, origin throws(ProgramError) in
                    let parts = origin.split(separator: "/").dropLast()
                    let settings = try SourceFile.read(AccountSearch.folder(of: origin) + "config")
                    let folder = String(parts.last ?? "")
                    return FoundInFile(accounts: [
                        try OneDriveClient.account(in: bytes, settings: settings, folder: folder, origin: origin)
                    ])
                }
            }
        }
    }
}
