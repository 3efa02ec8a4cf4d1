/// Why a bench could not be run.
enum BenchError: Error, Equatable {
    /// One of the programs to measure is not next to authbench.
    case noProgram(path: String)
    /// There is no C compiler for the floor.
    case noCompiler
    /// The compiler rejects the floor's source.
    case cannotCompile(program: String, errors: String)
    /// A program of the bench failed.
    case failed(program: String, errors: String)
    /// A floor program printed something unexpected.
    case unreadable(program: String, output: String)
    /// The store of a bench could not be filled.
    case cannotFillStore(reason: String)
    /// The daemon or the authorization server failed.
    case failedToServe(reason: String)
    /// authbench is not in the package's build folder.
    case noPackage(from: String)
}

extension BenchError: CustomStringConvertible {
    var description: String {
        switch self {
        case .noProgram(let path): "there is no '\(path)' to be measured"
        case .noCompiler: "there is no C compiler ('cc') to build the floor with"
        case .cannotCompile(let program, let errors): "the C compiler does not take '\(program)':\n\(errors)"
        case .failed(let program, let errors): "'\(program)' failed\(errors.isEmpty ? "" : ":\n\(errors)")"
        case .unreadable(let program, let output): "'\(program)' printed what cannot be read: '\(output)'"
        case .cannotFillStore(let reason): "the store cannot be filled: \(reason)"
        case .failedToServe(let reason): "a bench came to no end: \(reason)"
        case .noPackage(let folder): "there is no Package.swift above '\(folder)'"
        }
    }

    /// What helps; nil if that is unknown.
    var hint: String? {
        switch self {
        case .noProgram: "Tests/bench"
        case .noCompiler: "apt install gcc libc6-dev"
        case .noPackage: "Tests/bench build"
        case .cannotCompile, .failed, .unreadable, .cannotFillStore, .failedToServe: nil
        }
    }
}
