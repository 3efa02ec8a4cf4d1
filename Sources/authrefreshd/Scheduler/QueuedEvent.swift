internal import AccountStorage
internal import OAuthClient
internal import RefreshCore

/// An event of an account that waits for its turn.
struct QueuedEvent {
    let account: AccountID
    let event: Event
    /// The tokens in the event.
    var tokens: StoredTokens?
    /// Facts about a new grant, besides its tokens.
    var grantFacts = GrantFacts()
    /// The owner's change of settings; nil for none.
    var settings: SettingsChange?
    /// How the server wants Basic credentials encoded, if the request found out.
    var learnedEncoding: BasicCredentialEncoding?
    /// What the answer shows about the grant's scope; nil if nothing new.
    var learnedScope: GrantedScope?
    /// The person whom the answer names; nil if it names nobody.
    var learnedPerson: SignedInPerson?
    /// The identifier of the request that has ended.
    var correlationID: String?
    /// Whether an earlier decision on it contradicted the store.
    var isSecondTry = false
}
