internal import AccountStorage
internal import Basics
internal import Foundation
internal import OAuthMessages
internal import RefreshCore
internal import TextEncodings
internal import Varlink
internal import Yams

/// The installed provider profiles, by name.
struct ProviderProfiles: Equatable, Sendable {
    private var byName: [String: ProviderProfile] = [:]
    private var byIssuer: [Issuer: ProviderProfile] = [:]
    /// The file of each profile. An account's own settings are inserted into its text.
    private var files: [String: File] = [:]
    /// What the profiles were read from, in this order, and where these files were found.
    private var readFiles: [File] = []
    private var folders: [String] = []

    /// Why the files that are there now could not be read; nil if these profiles came from them.
    var obstacle: String?

    private struct File: Equatable {
        let folder: String
        let name: String
        let text: String

        var path: String { folder + "/" + name }
    }

    init(_ profiles: [ProviderProfile] = []) {
        for profile in profiles { add(profile) }
    }

    /// Reads the `*.yaml` files in `folders`. A profile in a later folder replaces one of the same name. Missing
    /// folders count as empty.
    init(folders: [String]) throws(ProgramError) {
        self.folders = folders
        readFiles = try Self.files(in: folders)
        for file in readFiles {
            let profile = try ConfigurationFile.decode(ProviderProfile.self, from: file.text, path: file.path)
            guard self.files[profile.name]?.folder != file.folder else {
                throw .configuration(
                    "'\(file.path)': another file in this folder also has a profile named '\(profile.name)'"
                )
            }
            add(profile)
            self.files[profile.name] = file
        }
    }

    private static func files(in folders: [String]) throws(ProgramError) -> [File] {
        var files: [File] = []
        for folder in folders {
            for name in ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
            where name.hasSuffix(".yaml") {
                files.append(
                    File(folder: folder, name: name, text: try ConfigurationFile.text(at: folder + "/" + name))
                )
            }
        }
        return files
    }

    /// The profiles that are in the folders now; nil if no file has changed since these were read. It may block.
    func readAgain() throws(ProgramError) -> ProviderProfiles? {
        try Self.files(in: folders) == readFiles ? nil : ProviderProfiles(folders: folders)
    }

    var names: [String] { byName.keys.sorted() }

    func named(_ name: String) -> ProviderProfile? {
        byName[name]
    }

    /// The file of a profile; empty if it came from no file.
    func path(of name: String) -> String {
        files[name]?.path ?? ""
    }

    /// The content of that file; nil if there is none.
    func text(of name: String) -> String? {
        files[name]?.text
    }

    /// The first profile whose issuer has the same host as `issuer`; nil if there is none.
    func nameForHost(of issuer: Issuer) -> String? {
        let host = ShownHost.of(issuer.url).lowercased()
        return names.first { byName[$0]?.issuerText.map { ShownHost.of($0).lowercased() } == host }
    }

    /// The first profile whose issuer differs from `issuer` by the slash at its end only; nil if there is none.
    func profileBesideSlash(of issuer: Issuer) -> ProviderProfile? {
        let url = issuer.url
        let other = url.hasSuffix("/") ? String(url.dropLast()) : url + "/"
        return names.lazy.compactMap { byName[$0] }.first { $0.issuerText == other }
    }

    /// The profile that an account names, or else the one for its issuer.
    func profile(provider: String?, issuer: Issuer) -> ProviderProfile? {
        provider.map { byName[$0] } ?? byIssuer[issuer]
    }

    private mutating func add(_ profile: ProviderProfile) {
        // The replaced profile is no longer the one for its issuer.
        if let issuer = byName[profile.name]?.issuer, byIssuer[issuer]?.name == profile.name { byIssuer[issuer] = nil }
        byName[profile.name] = profile
        if let issuer = profile.issuer { byIssuer[issuer] = profile }
    }
}

/// An account's settings that replace its provider's: keys of a profile's file, with their values in the same syntax.
extension ProviderProfiles {
    /// Keys that an account may not set: they describe the profile itself, or accounts have a setting of their own for
    /// them.
    static let keysOfProfiles: Set = [
        "name", "issuer", "variables", "documentation", "client_id_hint", "notes", "scopes_for",
    ]

    /// `profile` with an account's settings inserted in its file, read by the same reader; nil stands for an empty
    /// profile.
    ///
    /// - Throws: `InvalidSettings` for the first of `settings` that would be invalid in a profile's file.
    func profile(
        _ profile: ProviderProfile?,
        with settings: [String: String]
    ) throws(VarlinkError) -> ProviderProfile? {
        guard !settings.isEmpty else { return profile }
        let text = profile.flatMap { files[$0.name]?.text } ?? "{name: account}"
        guard let root = try? Yams.compose(yaml: text), var mapping = root.mapping else {
            preconditionFailure("the text of a profile was read before, and is a mapping")
        }
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) {
            guard !Self.keysOfProfiles.contains(key) else {
                throw Complaint.providerSetting("\"\(key)\" belongs to profiles only; accounts cannot set it").error
            }
            mapping[key] = value.isEmpty ? nil : try Self.node(value, for: key)
        }
        do {
            return try YAMLDecoder().decode(ProviderProfile.self, from: Node.mapping(mapping))
        } catch {
            let reason = (error as? DecodingError)?.place.reason ?? "cannot be used"
            throw Complaint.providerSetting(reason).error
        }
    }

    /// A text is taken literally, even if its characters have a meaning in YAML: a comma is a comma. Lists and mappings
    /// need brackets.
    private static func node(_ value: String, for key: String) throws(VarlinkError) -> Node {
        guard value.first == "[" || value.first == "{" else { return Node(value, Tag(.str)) }
        guard PlainFlowText.isPlain(value) else {
            throw Complaint.providerSetting(
                "\"\(key)\" has brackets that do not close or are too deep, or texts with & * ! # ? ' \" and no quotes around them"
            ).error
        }
        guard let node = try? Yams.compose(yaml: value) else {
            throw Complaint.providerSetting("\"\(key)\" has brackets, but is neither a list nor a mapping").error
        }
        return node
    }
}

extension Complaint {
    /// - Parameter reason: what is wrong, as for a profile's file.
    fileprivate static func providerSetting(_ reason: String) -> Complaint {
        Complaint(field: "providerSettings", reason, hint: "man provider-profile.yaml")
    }
}

/// An account's profile and the settings that replace the profile's.
struct ProfileChoice: Hashable, Sendable {
    /// The profile's name; nil chooses it by the issuer.
    let provider: String?
    let issuer: Issuer
    let variables: [String: String]
    /// The settings that replace the profile's.
    let settings: [String: String]
}

extension ProfileChoice {
    init(_ account: Account) {
        provider = account.provider
        issuer = account.issuer
        variables = account.providerVariables
        settings = account.providerSettings
    }

    /// Whether it leads to other addresses than `other`. If so, secrets and tokens of the old addresses must not be
    /// kept for the new ones.
    func isElsewhere(than other: ProfileChoice) -> Bool {
        issuer != other.issuer || provider != other.provider || variables != other.variables
            || settings.filter(Self.isAddress) != other.settings.filter(Self.isAddress)
    }

    /// Whether a key of a profile is an address.
    private static func isAddress(_ key: String, _: String) -> Bool {
        key.hasSuffix("_endpoint") || key == "jwks_uri"
    }
}
