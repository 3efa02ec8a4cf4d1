/// The server's pages: plain forms that a headless client can fill in as easily as a person.
enum DemoPages {
    /// Asks the person for consent.
    static func consent(_ request: SignInDesk.Request, id: String) -> Answer {
        page(
            """
            <h1>Demo sign-in</h1>
            <p>The application <b>\(escaped(request.clientID))</b> asks for: <b>\(escaped(request.scope))</b></p>
            <form method="post" action="/authorize/decision">
            <input type="hidden" name="request" value="\(escaped(id))">
            \(person(request.loginHint ?? "alice"))
            \(request.policy.map(policyButtons) ?? "")
            </form>
            """
        )
    }

    /// Asks the person for a device's code, and for consent.
    static func device(userCode: String) -> Answer {
        page(
            """
            <h1>Demo device sign-in</h1>
            <form method="post" action="/device">
            <p><label>Code <input name="user_code" value="\(escaped(userCode))" autocomplete="off"></label></p>
            \(person("alice"))
            </form>
            """
        )
    }

    /// Sends the answer back by a form (OAuth 2.0 Form Post Response Mode §2). The form is submitted at once if scripts
    /// run.
    static func formPost(to uri: String, _ fields: [(String, String)]) -> Answer {
        let inputs = fields.map { #"<input type="hidden" name="\#(escaped($0.0))" value="\#(escaped($0.1))">"# }
        return page(
            """
            <form method="post" action="\(escaped(uri))">
            \(inputs.joined(separator: "\n"))
            <p><button>Continue</button></p>
            </form>
            <script>document.forms[0].submit()</script>
            """
        )
    }

    static func notice(_ text: String) -> Answer { page("<h1>\(escaped(text))</h1>") }

    static func refusal(_ text: String) -> Answer { page("<h1>\(escaped(text))</h1>", status: 400) }

    private static func person(_ subject: String) -> String {
        """
        <p><label>Sign in as <input name="subject" value="\(escaped(subject))"></label></p>
        <p><button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></p>
        """
    }

    /// Buttons for the other choices that a policy offers.
    private static func policyButtons(_ policy: String) -> String {
        """
        <p>Policy <b>\(escaped(policy))</b>:
        <button name="decision" value="forgotten">Forgot the password</button>
        <button name="decision" value="cancel">Cancel</button></p>
        """
    }

    private static func page(_ body: String, status: Int = 200) -> Answer {
        Answer(
            status: status,
            headers: [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")],
            text: "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Demo authorization server</title>\n\(body)\n"
        )
    }

    private static func escaped(_ text: String) -> String {
        // Replace scalar by scalar, because a Swift character may consist of a letter and the "<" after it.
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
