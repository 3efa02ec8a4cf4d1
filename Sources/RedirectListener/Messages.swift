internal import SignIn

extension RedirectRefusal {
    /// The pages that the browser shows.
    var page: RedirectPage {
        switch self {
        case .noSuchPage:
            RedirectPage(
                .notice,
                title: "This page does not exist",
                text: "A sign-in on this machine is waiting for its answer at another address.",
                advice: "Continue in the window where you were signing in."
            )
        case .wrongHost, .notNavigated, .noForm, .wrongMethod, .tooLarge, .unreadable:
            RedirectPage(
                .failure,
                title: "This is not an answer to a sign-in",
                text: "The browser sent something else, which was not read. The present sign-in continues.",
                advice: "Continue in the window where you were signing in."
            )
        }
    }
}
