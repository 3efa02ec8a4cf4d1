internal import NIOCore
internal import NIOPosix
