/// Replaces a function of the Swift runtime. At the start of every program, the runtime looks in seven places for the
/// program that prints its backtraces. There is no such program next to `authctl`, and there should not be one, because
/// it would print parts of the memory.
///
/// - Returns: nil, which means that there is no such program.
@_cdecl("__wrap_swift_copyAuxiliaryExecutablePath")
func findNoBacktracer(_: UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? { nil }
