internal import OAuthMessages

/// A setting that the provider needs and the account lacks, so that nobody can sign in to it.
struct MissingSetting: Hashable {
    let setting: RequiredSetting
    /// The provider profile's note about it; nil if there is none.
    let note: String?
}
