internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// Finds the accounts of other programs in those programs' files.
struct AccountSearch {
    let request: ImportRequest
    /// The user's home folder, and the folder for settings.
    let home = environmentValue("HOME") ?? "/"
    let configuration: String
    /// The variables that tell programs where their files are.
    let environment: [String: String]

    /// The accounts that were found, ordered by program.
    var accounts: [FoundAccount] = []
    /// The problems with files that cannot be read. Other files are not affected.
    var problems: [ProgramError] = []

    init(_ request: ImportRequest) {
        self.request = request
        configuration = environmentValue("XDG_CONFIG_HOME") ?? home + "/.config"
        let names = ["AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG", "KUBECONFIG", "RCLONE_CONFIG", "XDG_CONFIG_HOME"]
        environment = names.reduce(into: [:]) { $0[$1] = environmentValue($1) }
        for program in SourceProgram.allCases where request.program ?? program == program {
            searching { search throws(ProgramError) in try search.search(program) }
        }
        if accounts.count > ImportLimit.movedAccountsMax {
            problems.append(.tooManyAccounts("the table"))
            accounts.removeSubrange(ImportLimit.movedAccountsMax...)
        }
    }

    private mutating func search(_ program: SourceProgram) throws(ProgramError) {
        switch program {
        case .oidcAgent: searchOIDCAgent()
        case .muttOAuth2: try searchMutt()
        case .pizauth:
            try searchFile(configuration + "/pizauth.conf") { bytes, origin throws(ProgramError) in
                try PizauthConfiguration.accounts(in: bytes, origin: origin)
            }
        case .gcloud:
            try searchFile(GcloudCredentials.path(home: home, environment: environment)) {
                bytes,
                origin throws(ProgramError) in
                FoundInFile(accounts: [try GcloudCredentials.account(in: bytes, origin: origin)])
            }
        case .azureCLI: try searchAzure()
        case .rclone:
            try searchFile(RcloneConfiguration.path(home: home, environment: environment)) {
                bytes,
                origin throws(ProgramError) in
                try RcloneConfiguration.accounts(in: bytes, origin: origin)
            }
        case .kubelogin: try searchKubelogin()
        case .kubeconfig: searchKubeconfigs()
        case .onedrive: searchOneDrive()
        case .aerc:
            try searchFile(configuration + "/aerc/accounts.conf") { bytes, origin throws(ProgramError) in
                try AercAccounts.accounts(in: bytes, origin: origin)
            }
        // Such a file is anywhere, so the user names it.
        case .file:
            guard request.file != nil else { return }
            try searchFile("") { bytes, origin throws(ProgramError) in
                FoundInFile(accounts: [try StoredGrant.account(in: bytes, origin: origin)])
            }
        }
    }

    /// Reads all accounts in an unencrypted file.
    ///
    /// - Parameter path: the program's default path, unless `--file` names another.
    mutating func searchFile(
        _ path: String,
        read: @escaping ([UInt8], String) throws(ProgramError) -> FoundInFile
    ) throws(ProgramError) {
        let path = request.file ?? path
        guard let bytes = try contents(of: path) else { return }
        let found = try read(bytes, path)
        problems += found.problems
        for account in found.accounts {
            accounts.append(
                FoundAccount(account) { () throws(ProgramError) in
                    let again = try read(try SourceFile.read(path) ?? [], path).accounts
                    let isSame = { (other: MovableAccount) in
                        other.settings.name == account.settings.name && other.sourceName == account.sourceName
                    }
                    guard let same = again.first(where: isSame) else {
                        throw .wrongFormat(path, expected: "the account '\(account.settings.name)', as before")
                    }
                    return same
                }
            )
        }
    }

    /// Searches one of several places. A problem there does not hide what is in the others.
    mutating func searching(_ search: (inout AccountSearch) throws(ProgramError) -> Void) {
        do throws(ProgramError) {
            try search(&self)
        } catch {
            problems.append(error)
        }
    }

    /// The bytes of a file; nil if it is missing.
    ///
    /// - Throws: also if the file that `--file` names is missing.
    func contents(of path: String) throws(ProgramError) -> [UInt8]? {
        let bytes = try SourceFile.read(path)
        guard bytes != nil || request.file == nil else { throw .unreadable(path, errno: ENOENT) }
        return bytes
    }
}

/// oidc-agent and mutt_oauth2.py, whose files are usually encrypted.
extension AccountSearch {
    private mutating func searchOIDCAgent() {
        // `oidc-gen -p` takes a word without a slash as the name of an account.
        if let file = request.file {
            return accounts.append(oidcAgentAccount(file.contains("/") ? file : "./" + file, path: file))
        }
        let own = environmentValue("OIDC_CONFIG_DIR").map { [$0] }
        // oidc-agent uses the first folder that exists.
        let folders = own ?? [home + "/.config/oidc-agent", home + "/.oidc-agent"]
        guard let folder = folders.first(where: { !SourceFile.names(in: $0).isEmpty }) else { return }
        accounts += OIDCAgentAccount.names(among: SourceFile.names(in: folder)).map { name in
            oidcAgentAccount(name, path: folder + "/" + name)
        }
    }

    /// - Parameters:
    ///   - name: an account's name, or the path of a file as `oidc-gen -p` takes it.
    ///   - path: where the file is.
    private func oidcAgentAccount(_ name: String, path: String) -> FoundAccount {
        let password = request.passwordFile.map { ["--pw-file=\($0)"] } ?? []
        let command = ["oidc-gen"] + password + ["-p", name]
        let origin = "oidc-gen -p \(name)"
        let sourceName = name.split(separator: "/").last.map(String.init) ?? name
        return FoundAccount(locked: .oidcAgent, sourceName: sourceName, origin: origin) {
            () throws(ProgramError) in
            var account = try OIDCAgentAccount.account(in: try ProgramRun.source(command), origin: origin)
            account.origin = path
            return account
        }
    }

    private mutating func searchMutt() throws(ProgramError) {
        if let file = request.file {
            return try searchToken(.init(script: Self.folder(of: file) + "mutt_oauth2.py", tokenFile: file))
        }
        for place in muttPlaces() { searching { search throws(ProgramError) in try search.searchToken(place) } }
    }

    private mutating func searchToken(_ place: MuttOAuth2Token.Place) throws(ProgramError) {
        guard let bytes = try contents(of: place.tokenFile) else { return }
        let script = try SourceFile.readScript(place.script)
        let copy = try script.map { bytes throws(ProgramError) in
            try MuttOAuth2Script(bytes, origin: place.script)
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard text.first != UInt8(ascii: "{") else {
            let read = { () throws(ProgramError) in
                let bytes = try SourceFile.read(place.tokenFile) ?? []
                return try MuttOAuth2Token.account(in: bytes, script: copy, place: place, origin: place.tokenFile)
            }
            return accounts.append(FoundAccount(try read(), open: read))
        }
        accounts.append(encryptedToken(place, copy))
    }

    private func encryptedToken(_ place: MuttOAuth2Token.Place, _ script: MuttOAuth2Script?) -> FoundAccount {
        let name = place.tokenFile.split(separator: "/").last.map(String.init) ?? "mail"
        return FoundAccount(locked: .muttOAuth2, sourceName: name, origin: place.tokenFile) {
            () throws(ProgramError) in
            guard let words = place.decryption ?? script?.decryption, !words.isEmpty else {
                throw .encrypted(
                    place.tokenFile,
                    hint: "put a copy of your mutt_oauth2.py beside it: its DECRYPTION_PIPE decrypts the file"
                )
            }
            let decrypted = try ProgramRun.source(words, inputFile: place.tokenFile)
            return try MuttOAuth2Token.account(in: decrypted, script: script, place: place, origin: place.tokenFile)
        }
    }

    /// The token files that the settings of mail programs name, also in files that these settings source.
    private mutating func muttPlaces() -> [MuttOAuth2Token.Place] {
        var files =
            [".muttrc", ".mutt/muttrc", ".neomuttrc", ".mbsyncrc", ".msmtprc", ".offlineimaprc"]
            .map { home + "/" + $0 }
            + [
                "mutt/muttrc", "neomutt/neomuttrc", "neomutt/muttrc", "isyncrc", "msmtp/config", "aerc/accounts.conf",
                "offlineimap/config",
            ].map { configuration + "/" + $0 }
        var places: [MuttOAuth2Token.Place] = []
        var next = 0
        while next < files.count, files.count <= ImportLimit.movedAccountsMax {
            let file = files[next]
            next += 1
            searching { search throws(ProgramError) in
                guard let settings = try SourceFile.read(file) else { return }
                let folder = Self.folder(of: file)
                files += MailSettings.sourced(by: settings, home: search.home, folder: folder)
                    .filter { !files.contains($0) }
                places += MuttOAuth2Token.places(in: settings, home: search.home).compactMap(search.located).filter {
                    place in !places.contains { $0.tokenFile == place.tokenFile }
                }
            }
        }
        return places
    }

    /// Finds the script in the same places as a shell, or else next to the token file, but never in the current folder.
    private func located(_ place: MuttOAuth2Token.Place) -> MuttOAuth2Token.Place? {
        guard place.tokenFile.hasPrefix("/") else { return nil }
        if place.script.contains("/") { return place.script.hasPrefix("/") ? place : nil }
        let folders = (environmentValue("PATH") ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.map {
            $0 + "/"
        }
        let beside = Self.folder(of: place.tokenFile) + place.script
        let script = folders.map { $0 + place.script }.first { unsafe access($0, R_OK) == 0 }
        return .init(script: script ?? beside, tokenFile: place.tokenFile, options: place.options)
    }

    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}
