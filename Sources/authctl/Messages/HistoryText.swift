/// The words of `authctl history`.
enum HistoryText {
    /// What each character of the plot means.
    static func legend(account: String, hours: Int, character: (HourState) -> Character) -> String {
        "\(account), a character for each of the last \(hours) hours: "
            + "\(character(.fresh)) fresh  \(character(.retrying)) retrying  "
            + "\(character(.needsYou)) needs you  \(character(.signedOut)) signed out"
    }

    static func hidden(_ count: Int) -> String { "(\(count) earlier entries; --json shows all)" }

    static func times(_ count: Int, since stamp: String) -> String { " \(count) times since \(stamp)" }

    /// The words for an event. An unknown event is shown by its name.
    static func words(for event: String) -> String {
        switch event {
        case "token-refreshed": "refreshed"
        case "refresh-failed": "refresh failed"
        case "token-set-refreshed": "got a token for other scopes"
        case "token-set-failed": "got no token for other scopes"
        case "interaction-required": "needs you"
        case "misconfigured": "misconfigured"
        case "refresh-token-expiring": "the refresh token expires soon"
        case "sign-out-near": "signs out by itself soon"
        case "client-secret-ending": "the client secret expires soon"
        case "grant-imported": "a grant was imported"
        case "sign-in-started": "sign-in started"
        case "sign-in-failed": "sign-in failed"
        default: event.replacing("-", with: " ")
        }
    }
}
