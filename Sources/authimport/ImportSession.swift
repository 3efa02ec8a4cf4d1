internal import Glibc
internal import MovingIn
internal import Terminal

/// One run of `authctl import`.
struct ImportSession {
    private let request: ImportRequest
    private let daemon: Daemon
    private var records: [TransferRecord] = []

    init(_ request: ImportRequest) {
        self.request = request
        daemon = Daemon(socket: request.socket)
    }

    /// - Returns: the exit status.
    mutating func run() throws(ImportError) -> Int32 {
        let search = AccountSearch(request)
        for problem in search.problems { Messages.warn(problem.message, isJSON: request.isJSON) }
        let canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && !request.isJSON
        let takesNone = request.names.isEmpty && !request.takesAll && !canAsk
        guard !request.isDryRun, !takesNone else {
            try Messages.answer(AccountTable(accounts: search.accounts).text(isJSON: request.isJSON))
            if takesNone, !request.isDryRun, !search.accounts.isEmpty {
                Messages.note("nothing was taken over: name accounts, or use --all", isJSON: request.isJSON)
            }
            guard search.accounts.isEmpty, let problem = search.problems.first else { return 0 }
            return ImportError.reading(problem).status
        }
        let chosen = try choose(among: search.accounts)
        let asks = request.names.isEmpty && !request.takesAll
        for found in chosen {
            if asks, try !confirm(found) { continue }
            transfer(found)
        }
        if chosen.isEmpty { Messages.note("no account was found in another program", isJSON: request.isJSON) }
        if request.isJSON { try Messages.answer(ImportDocument(accounts: records.map(\.document)).text) }
        let unread = chosen.isEmpty ? search.problems.first.map { [ImportError.reading($0).status] } ?? [] : []
        return (records.map(\.status) + unread).max { TransferRecord.urgency($0) < TransferRecord.urgency($1) } ?? 0
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
        Messages.write("take over '\(found.name)' from \(found.source.title) (\(server))? [y/N] ")
        guard let answer = readLine() else { throw .cancelled }
        return ["y", "yes"].contains(answer.lowercased())
    }

    private mutating func transfer(_ found: FoundAccount) {
        let name = request.newName ?? found.name
        if found.hasGrant, !found.source.processes.isEmpty {
            let programs = found.source.processes.joined(separator: ", ")
            Messages.note(
                "\(found.source.title) must no longer use '\(found.name)'; looking for \(programs)",
                isJSON: request.isJSON
            )
        }
        do throws(ImportError) {
            let outcome = try Transfer(daemon: daemon, found: found, name: name).run()
            records.append(TransferRecord(found, name: name, outcome))
        } catch {
            records.append(TransferRecord(found, name: name, error))
            Messages.write(request.isJSON ? error.json : error.text)
            return
        }
        guard !request.isJSON, let record = records.last else { return }
        do throws(ImportError) {
            try Messages.answer(record.text)
        } catch {
            Messages.write(error.text)
        }
    }
}
