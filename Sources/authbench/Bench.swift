/// The available benches.
enum Bench: String, CaseIterable, Sendable {
    case tokenProcess = "token-process"
    case serve
    case idle
    case million
    case refreshRate = "refresh-rate"
    case rotate
    case refusal

    /// The summary for the help text.
    var summary: String {
        switch self {
        case .tokenProcess: "authctl as a whole process that prints a token"
        case .serve: "AcquireToken with a new connection for each request"
        case .idle: "memory and wake-ups of a daemon that has nothing to do"
        case .million: "start and memory of a daemon with 1,000,000 accounts"
        case .refreshRate: "refreshes per second over TLS"
        case .rotate: "one forced refresh with rotation"
        case .refusal: "refusals of a program that is not on the account's list"
        }
    }

    /// What the bench is compared with, in one sentence, for the help text.
    var floor: String {
        switch self {
        case .tokenProcess:
            """
            A C client that sends the request to a C server and prints the reply; in beside-static, it is linked \
            statically and asks the daemon.
            """
        case .serve:
            """
            A C server that sends one fixed reply. It reads no JSON and asks for no credentials. It answers one caller \
            after the other; in beside-batches, it answers all waiting callers together.
            """
        case .idle: "None. The limits are in MiB and wake-ups a second."
        case .million: "The same daemon with 10 accounts."
        case .refreshRate: "The daemon's HTTP client alone, with the same server. It stores nothing and tells nobody."
        case .rotate: "One exchange by the same HTTP client, and two writes that wait for the disk."
        case .refusal: "The account with the quicker refusal, of one that has a token and one that has none."
        }
    }

    /// Runs the bench.
    ///
    /// - Throws: `BenchError` if it cannot be run.
    func measure(in workshop: Workshop) async throws -> [Figure] {
        switch self {
        case .tokenProcess: try await workshop.tokenProcess()
        case .serve: try await workshop.serve()
        case .idle: try await workshop.idle()
        case .million: try await workshop.million()
        case .refreshRate: try await workshop.refreshRate()
        case .rotate: try await workshop.rotate()
        case .refusal: try await workshop.refusal()
        }
    }
}
