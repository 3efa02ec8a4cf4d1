/// Replaces a function of the Swift runtime. At the start of every program, the runtime looks in seven places for the
/// program that prints its backtraces. There is none next to `authctl`, and there should be none that prints its
/// memory.
///
/// - Returns: nil, which means that there is none.
@_cdecl("__wrap_swift_copyAuxiliaryExecutablePath")
func findNoBacktracer(_: UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? { nil }
