/// In place of the Swift runtime's: at the start of every program it looks in seven places for the one that would print its
/// backtraces. There is none beside `authctl`, and one that printed what is in its memory would be none to have.
///
/// - Returns: nil: there is none.
@_cdecl("__wrap_swift_copyAuxiliaryExecutablePath")
func findNoBacktracer(_: UnsafePointer<CChar>?) -> UnsafeMutablePointer<CChar>? { nil }
