internal import Foundation

/// How a child process ended.
enum ProcessEnd: Equatable, Sendable, CustomStringConvertible {
    case status(Int32)
    case signal(Int32)

    init(_ process: Process) {
        switch process.terminationReason {
        case .exit: self = .status(process.terminationStatus)
        case .uncaughtSignal: self = .signal(process.terminationStatus)
        @unknown default: self = .status(process.terminationStatus)
        }
    }

    var description: String {
        switch self {
        case .status(let status): "status \(status)"
        case .signal(let signal): "signal \(signal)"
        }
    }
}
