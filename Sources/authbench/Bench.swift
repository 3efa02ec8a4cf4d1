/// The available benches.
enum Bench: String, CaseIterable, Sendable {
    case tokenProcess = "token-process"
    case serve
    case idle
    case million
    case refreshRate = "refresh-rate"
    case rotate
    case build

    /// The summary for the help text.
    var summary: String {
        switch self {
        case .tokenProcess: "authctl token NAME as a whole process, beside a C client"
        case .serve: "AcquireToken with a new connection for each request, beside a C server"
        case .idle: "memory and wake-ups of a daemon that has nothing to do"
        case .million: "start and memory with 1,000,000 accounts, beside 10"
        case .refreshRate: "refreshes per second over TLS, beside the bare HTTP client"
        case .rotate: "one forced refresh with rotation, beside one exchange and two fsyncs"
        case .build: "clean builds: the quickstart, part by part, and the release programs"
        }
    }

    /// What the bench is compared with, in one sentence, for the help text.
    var floor: String {
        switch self {
        case .tokenProcess:
            """
            A C client that sends the request and prints the reply: linked dynamically, and (beside-static) statically.
            """
        case .serve:
            """
            A C server that sends one fixed reply, reads no JSON and asks for no credentials. It answers caller by caller or, \
            beside-batches, all who wait together.
            """
        case .idle: "None: the limits are in MiB and wake-ups a second."
        case .million: "The same daemon with 10 accounts."
        case .refreshRate: "The daemon's HTTP client alone, against the same server: it stores nothing, tells nobody."
        case .rotate: "The same HTTP client, one exchange, and two writes that wait for the disk."
        case .build: "None: nothing is judged."
        }
    }

    /// Runs the bench.
    ///
    /// - Throws: `BenchError` if it cannot be run.
    func measure(in workshop: Workshop) async throws -> [Figure] {
        switch self {
        case .tokenProcess: try await TokenProcessBench(workshop: workshop).figures()
        case .serve: try await ServeBench(workshop: workshop).figures()
        case .idle: try await IdleBench(workshop: workshop).figures()
        case .million: try await MillionBench(workshop: workshop).figures()
        case .refreshRate: try await RefreshRateBench(workshop: workshop).figures()
        case .rotate: try await RotateBench(workshop: workshop).figures()
        case .build: try await BuildBench(workshop: workshop).figures()
        }
    }
}
