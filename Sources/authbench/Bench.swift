/// What can be measured.
enum Bench: String, CaseIterable, Sendable {
    case tokenProcess = "token-process"
    case serve
    case idle
    case million
    case refreshRate = "refresh-rate"
    case rotate
    case build

    /// For the help text.
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
