internal import AuthRefreshInterface
internal import MovingIn

/// Azure CLI and kubelogin, whose accounts are in several files.
extension AccountSearch {
    /// The kubeconfig files; with `--file`, only that one.
    var kubeconfigs: [String] {
        request.file.map { [$0] } ?? KubeconfigUsers.paths(home: home, environment: environment)
    }

    mutating func searchAzure() throws(ImportError) {
        let folder = AzureTokenCache.folder(home: home, environment: environment)
        // On a desktop with a keyring, the cache is encrypted and its name ends in `.bin`.
        let plain = folder + "/msal_token_cache.json"
        let encrypted = folder + "/msal_token_cache.bin"
        let isOpen = try SourceFile.read(plain) != nil
        let isLocked = try SourceFile.read(encrypted) != nil
        let path = isLocked && !isOpen ? encrypted : plain
        try searchFile(path) { bytes, origin throws(ImportError) in
            let profile = try SourceFile.read(folder + "/azureProfile.json")
            return try AzureTokenCache.accounts(in: bytes, profile: profile, origin: origin)
        }
    }

    /// If several files have the same user, the first one counts, as in kubectl.
    mutating func searchKubeconfigs() throws(ImportError) {
        for path in kubeconfigs {
            let known = Set(accounts.filter { $0.source == .kubeconfig }.map(\.sourceName))
            try searchFile(path) { bytes, origin throws(ImportError) in
                try KubeconfigUsers.accounts(in: bytes, origin: origin).filter { !known.contains($0.sourceName) }
            }
        }
    }

    /// The users of kubelogin, with the grant from its cache, or only with their settings.
    mutating func searchKubelogin() throws(ImportError) {
        for path in kubeconfigs {
            guard let bytes = try contents(of: path) else { continue }
            let users = try KubeconfigUsers.kubelogin(in: bytes, origin: path)
            let folder = KubeloginCache.folder(home: home)
            var owners: Set<String> = []
            for file in SourceFile.digests(in: folder) {
                let read = { () throws(ImportError) -> MovableAccount? in
                    guard let bytes = try SourceFile.read(file) else { return nil }
                    return try KubeloginCache.account(in: bytes, origin: file, users: users)
                }
                guard let account = try read(), owners.insert(account.settings.name).inserted else { continue }
                accounts.append(
                    FoundAccount(account) { () throws(ImportError) in
                        guard let again = try read() else {
                            throw .wrongFormat(file, expected: "the account's tokens, as before")
                        }
                        return again
                    }
                )
            }
            for user in users where !owners.contains(user.settings.name) {
                accounts.append(FoundAccount(user) { () throws(ImportError) in user })
            }
        }
    }
}
