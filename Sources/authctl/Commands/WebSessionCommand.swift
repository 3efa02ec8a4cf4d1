internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl web-session`.
struct WebSessionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-session",
        abstract: "Open a page in a browser, and print the address that it comes back to.",
        discussion: """
            Examples:

              \(InvokedAs.here) web-session - --callback com.example.app:/done < url.txt
              page='https://as.example/authorize?client_id=me&redirect_uri={callback}'
              \(InvokedAs.here) web-session "$page" --callback http://127.0.0.1/done

            This is for your own programs, if a person has to sign in or decide something on a web page, and the \
            program needs no account here. authctl opens the page. When the browser is sent back to the callback, \
            authctl prints the whole address on one line.

            --callback is one of four kinds. With 'http://127.0.0.1/done', 'http://localhost/done' or \
            'http://[::1]/done', the daemon listens on the port meanwhile. With 'com.example.app:/done', the desktop \
            passes the address to '\(InvokedAs.here) callback'. With 'exampleauth', a scheme alone, every address of the scheme \
            is the answer. 'https://app.example/done' is a page of your own, with a link \
            to 'io.authrefresh:' and its own address. Each callback has one session at a time. Instead, you can paste \
            the address at any time.

            If the callback has no port, any free one is used. In URL, '{callback}' is replaced by the callback \
            with its port, percent-encoded. With --json the first line contains it, too.

            authctl checks only that the address matches the callback: scheme, host, port and path. Any program or \
            page on this machine can send a browser there, so your program must check 'state', PKCE (RFC 7636) and \
            the server's answer. The part after a '#' never reaches a loopback callback, because browsers do not \
            send it.

            URL may contain secrets, and other users can read the arguments of a program: '-' reads it from \
            standard input. authctl wipes a URL that is an argument from there at once.

            The browser and its window are chosen as by '\(InvokedAs.here) login', without an account.

            Exit status: 0 done; 75 timed out, or the callback is in use; 77 the address contains an 'error' (RFC \
            6749 4.1.2.1) and is printed as well, or you are not permitted; 78 the window, the browser or the port \
            is not available; 130 cancelled with Ctrl-C, or by closing a window of --temporary-profile.
            """
    )

    @Argument(help: "The page's address, or '-'.")
    var url: String

    @Option(help: .value("uri", "Where the browser comes back to."))
    var callback: String

    @Option(help: .value("time", "How long to wait: 90s, 5m, at most 1h. Default: 10m."))
    var timeout: LengthOfTime?

    @OptionGroup var window: WindowOptions

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let timeout, !(1...3600).contains(timeout.seconds) {
            throw ValidationError("'--timeout' must be from 1s to 1h")
        }
    }

    func run() throws(Report) {
        ProgramArguments.wipe()
        let address = try address
        guard callback.contains(":") || !address.reveal().contains(WebSession.callbackPlace) else {
            throw .usage(
                "the callback is only a scheme, and cannot stand in the page's address",
                hint: "name a whole callback: --callback \(PlainText.line(callback)):/done"
            )
        }
        // Check before the session begins. Only the port of the callback is still missing.
        _ = try WebSession.link(to: address, callback: callback)
        let session = try WebSession(
            address,
            StartWebSession.Parameters(callback: callback, timeoutSec: timeout?.seconds),
            window: try WindowChoice(window.kind, browser: window.browser, in: .real),
            connection: connection,
            output: output
        )
        let answer = try session.run()
        if !output.json { try StandardOutput.write(answer + "\n") }
        // RFC 6749 §4.1.2.1: the address, which is printed, may contain an error of the server.
        if let code = Self.errorCode(in: answer) {
            throw Report(
                status: .notPermitted,
                name: "authctl.CallbackIsError",
                message: "the server refused, and sent the browser back with the error '\(PlainText.line(code))'",
                hints: ["the whole address is on standard output"]
            )
        }
    }

    /// The value of `error` in the query or the fragment of an address (RFC 6749 §4.1.2.1, §4.2.2.1), shortened to 100
    /// characters; nil if there is none.
    private static func errorCode(in url: String) -> String? {
        let answer = url.drop { $0 != "?" && $0 != "#" }
        let values = answer.split { "?#&".contains($0) }.filter { $0.hasPrefix("error=") }
            .map { $0.dropFirst("error=".count) }
        return values.first { !$0.isEmpty }.map { String($0.prefix(100)) }
    }

    private var address: SecretText {
        get throws(Report) {
            guard url == "-" else { return SecretText(url) }
            return try SecretFile(name: url, purpose: .page).readLine(prompt: "Address of the page: ")
        }
    }
}
