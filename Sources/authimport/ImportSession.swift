internal import CommandLineProgram
internal import Glibc
internal import MovingIn
internal import Terminal

/// One run of `authctl import`.
struct ImportSession {
    private let request: ImportRequest
    private let messages: Messages
    private let daemon: Daemon
    private var records: [TransferRecord] = []
    /// `success`, or why an answer could not be written.
    private var output = ExitStatus.success

    init(_ request: ImportRequest, _ messages: Messages) {
        self.request = request
        self.messages = messages
        daemon = Daemon(socket: request.socket)
    }

    /// Runs the import.
    ///
    /// - Returns: the exit status.
    mutating func run() throws(ImportError) -> ExitStatus {
        let search = AccountSearch(request)
        for problem in search.problems { messages.warn(problem.message) }
        let canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && !request.isJSON
        let takesNone = request.names.isEmpty && !request.takesAll && !canAsk
        guard !request.isDryRun, !takesNone else {
            try messages.answer(AccountTable(accounts: search.accounts).text(isJSON: request.isJSON))
            if takesNone, !request.isDryRun, !search.accounts.isEmpty {
                messages.note("nothing was taken over: name accounts, or use --all")
            }
            guard search.accounts.isEmpty, let problem = search.problems.first else { return .success }
            return ImportError.reading(problem).status
        }
        let chosen = try choose(among: search.accounts)
        let asks = request.names.isEmpty && !request.takesAll
        for found in chosen {
            if asks, try !confirm(found) { continue }
            transfer(found)
        }
        if chosen.isEmpty { messages.note("no account was found in another program") }
        if request.isJSON { try messages.answer(ImportDocument(accounts: records.map(\.document)).text) }
        let unread = chosen.isEmpty ? search.problems.first.map { [ImportError.reading($0).status] } ?? [] : []
        return (records.map(\.status) + unread).reduce(output, ExitStatus.worst)
    }

    private func choose(among accounts: [FoundAccount]) throws(ImportError) -> [FoundAccount] {
        var chosen = accounts
        if !request.names.isEmpty {
            chosen = []
            for name in request.names {
                let matches = accounts.filter { $0.name == name || $0.sourceName == name }
                guard let match = matches.first else { throw .noSuchAccount(name: name) }
                guard matches.count == 1 else { throw .ambiguous(name: name, programs: matches.map(\.source)) }
                chosen.append(match)
            }
        }
        guard request.newName == nil || chosen.count == 1 else { throw .oneAccountOnly(count: chosen.count) }
        return chosen
    }

    private func confirm(_ found: FoundAccount) throws(ImportError) -> Bool {
        let server = PlainText.line(AccountTable.server(of: found))
        messages.ask("Take over '\(found.name)' from \(found.source.title) (\(server))? [y/N] ")
        guard let answer = readLine() else { throw .cancelled }
        return ["y", "yes"].contains(answer.lowercased())
    }

    private mutating func transfer(_ found: FoundAccount) {
        let name = request.newName ?? found.name
        if found.hasGrant, !found.source.processes.isEmpty {
            let programs = found.source.processes.joined(separator: ", ")
            messages.note("\(found.source.title) must no longer use '\(found.name)'; looking for \(programs)")
        }
        do throws(ImportError) {
            let outcome = try Transfer(daemon: daemon, found: found, name: name).run()
            records.append(TransferRecord(found, name: name, outcome))
        } catch {
            records.append(TransferRecord(found, name: name, error))
            messages.tell(error)
            return
        }
        guard !request.isJSON, let record = records.last else { return }
        do throws(ImportError) {
            try messages.answer(record.text)
        } catch {
            output = error.status
            messages.tell(error)
        }
    }
}
