/// The words of `authctl history`.
enum HistoryText {
    /// The words for the events of the interface that are not shown by their names.
    static let eventWords = [
        "token-refreshed": "refreshed",
        "token-set-refreshed": "got a token for other scopes",
        "token-set-failed": "got no token for other scopes",
        "interaction-required": "needs you",
        "refresh-token-expiring": "the refresh token expires soon",
        "sign-out-near": "signs out by itself soon",
        "client-secret-ending": "the client secret expires soon",
        "grant-imported": "a grant was imported",
        "sign-in-started": "sign-in started",
        "sign-in-failed": "sign-in failed",
    ]

    /// What each character of the plot means.
    static func legend(account: String, hours: Int, character: (HourState) -> Character) -> String {
        "\(account), a character for \(hours == 1 ? "the last hour" : "each of the last \(hours) hours"): "
            + "\(character(.fresh)) fresh, \(character(.retrying)) retrying, "
            + "\(character(.needsYou)) needs you, \(character(.signedOut)) signed out"
    }

    static func hidden(_ count: Int) -> String {
        "(\(count) earlier \(count == 1 ? "entry" : "entries"); --json shows all)"
    }

    static func times(_ count: Int, since stamp: String) -> String { " \(count) times since \(stamp)" }

    /// The words for an event. An unknown one is shown by its name.
    static func words(for event: String) -> String {
        eventWords[event] ?? event.replacing("-", with: " ")
    }
}
